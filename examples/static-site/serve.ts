/** Serves the pages of this folder with the URL of the service in them. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const { CDS_URL = 'http://localhost:8080', PORT = '4001' } = process.env
const PAGES: Record<string, string> = { '/': 'index.html', '/pricing.html': 'pricing.html' }

const server = createServer(async (request, response) => {
  const page = PAGES[new URL(request.url ?? '/', 'http://localhost').pathname]
  if (page === undefined) return response.writeHead(404).end('There is no such page.')
  const html = await readFile(new URL(page, import.meta.url), 'utf8')
  response.setHeader('content-type', 'text/html; charset=utf-8').end(html.replaceAll('{{CDS_URL}}', CDS_URL))
})
server.listen(Number(PORT), () => {
  console.log(`The site is at http://localhost:${(server.address() as AddressInfo).port}`)
})
