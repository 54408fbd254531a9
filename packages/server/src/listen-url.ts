/** The URL of a service from its own machine. */
export function listenUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** The same, with the port that the system assigned for port 0. */
export function urlOfServer(server: { address(): { port: number } | string | null }, host: string): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.')
  return listenUrl(host, address.port)
}
