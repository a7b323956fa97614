// What a service is called by systemd, in a machine that has one.

/** `etcd` → `holdfast-etcd.service`. */
export function unitName(service: string): string {
  return `holdfast-${service}.service`
}
