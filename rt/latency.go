package rt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// HoldCPULatency forbids the CPUs every idle state with an exit latency above us
// microseconds, for as long as the returned closer is open: the kernel drops the request
// when the file is closed, so a killed process leaves nothing behind. path is
// /dev/cpu_dma_latency outside tests. Cold.
//
// https://docs.kernel.org/power/pm_qos_interface.html
func HoldCPULatency(path string, us int32) (io.Closer, error) {
	if us < 0 {
		return nil, fmt.Errorf("CPU latency of %d µs: ask for 0 or more", us)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("hold CPU latency at %d µs: %w: needs the device; in a container "+
			"--device /dev/cpu_dma_latency", us, err)
	}
	request := binary.NativeEndian.AppendUint32(nil, uint32(us))
	if _, err := f.Write(request); err != nil {
		return nil, errors.Join(fmt.Errorf("hold CPU latency at %d µs: %w", us, err), f.Close())
	}
	return f, nil
}
