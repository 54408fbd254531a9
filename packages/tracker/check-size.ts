/** Exits with 1 if the tracker is not within its budget: every first visit to a site downloads it. */
import { BROTLI_BYTES_LIMIT, brotli, buildScript } from './build.ts'

const bytes = brotli(await buildScript('track')).length
const line = `the tracker has ${bytes} bytes in brotli, and must have fewer than ${BROTLI_BYTES_LIMIT}`
if (bytes >= BROTLI_BYTES_LIMIT) {
  console.error(line)
  process.exit(1)
}
console.log(line)
