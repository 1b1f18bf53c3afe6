/** The ports on which the server serves hosts; null = none. */
interface HostPorts {
  readonly hostHttpPort: number | null;
  readonly hostHttpsPort: number | null;
}

/** The URL of a host as visitors use it. */
export function visitorUrl({ hostHttpPort, hostHttpsPort }: HostPorts, scheme: string, host: string, location: string): string {
  const [start, port, usual] = scheme === 'HTTP' ? ['http', hostHttpPort, 80] as const : ['https', hostHttpsPort, 443] as const;
  return `${start}://${host}${port && port !== usual ? `:${port}` : ''}${location || '/'}`;
}
