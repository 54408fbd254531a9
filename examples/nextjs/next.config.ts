import { join } from 'node:path'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // The client is in this repository instead of node_modules.
  turbopack: { root: join(import.meta.dirname, '../..') },
}

export default config
