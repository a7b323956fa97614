import { expect, test } from 'vitest'
import { virshError } from './virsh-errors.ts'

// What virsh 9.0 prints.
test.each([
  [
    'HypervisorUnreachable',
    "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory\n",
    "Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory",
  ],
  [
    'HypervisorUnreachable',
    'error: failed to connect to the hypervisor\nerror: Cannot recv data: ssh: connect to host h port 22: Connection refused: Connection reset by peer\n',
    'Cannot recv data: ssh: connect to host h port 22: Connection refused: Connection reset by peer',
  ],
  [
    'HypervisorUnreachable',
    "error: Disconnected from qemu:///system due to end of file\nerror: failed to get domain 'a2'\n",
    'Disconnected from qemu:///system due to end of file',
  ],
  [
    'HypervisorUnreachable',
    "error: Failed to start domain 'a'\nerror: End of file while reading data: Input/output error\n",
    'End of file while reading data: Input/output error',
  ],
  [
    'HypervisorRefused',
    "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/var/run/libvirt/libvirt-sock': Permission denied\n",
    "Failed to connect socket to '/var/run/libvirt/libvirt-sock': Permission denied",
  ],
  [
    'HypervisorRefused',
    'error: failed to connect to the hypervisor\nerror: Cannot recv data: Host key verification failed.: Connection reset by peer\n',
    'Cannot recv data: Host key verification failed.: Connection reset by peer',
  ],
  [
    'HypervisorRefused',
    "error: failed to connect to the hypervisor\nerror: authentication unavailable: no polkit agent available to authenticate action 'org.libvirt.unix.manage'\n",
    "authentication unavailable: no polkit agent available to authenticate action 'org.libvirt.unix.manage'",
  ],
  [
    'HypervisorRefused',
    "error: Failed to start domain 'a2'\nerror: operation forbidden: read only access prevents virDomainCreate\n",
    'operation forbidden: read only access prevents virDomainCreate',
  ],
  ['DomainMissing', "error: failed to get domain 'nosuch'\n", "failed to get domain 'nosuch'"],
  [
    'HypervisorRefused',
    "error: failed to connect to the hypervisor\nerror: Legitimierung nicht verfügbar: kein Polkit-Agent für 'org.libvirt.unix.manage'\n",
    "Legitimierung nicht verfügbar: kein Polkit-Agent für 'org.libvirt.unix.manage'",
  ],
  [
    'LibvirtFailed',
    'error: failed to connect to the hypervisor\nerror: no connection driver available for foo:///system\n',
    'no connection driver available for foo:///system',
  ],
  [
    'LibvirtFailed',
    "error: Failed to start domain 'a'\nerror: Cannot access storage file '/x': Permission denied\n",
    "Cannot access storage file '/x': Permission denied",
  ],
])('%s: %j', (code, words, told) => {
  const error = virshError('do it', 'qemu:///system', words)
  expect({ code: error.code, message: error.message }).toEqual({
    code,
    message: `Cannot do it on qemu:///system: ${told}`,
  })
  expect(error.retryable).toBe(code === 'HypervisorUnreachable')
})
