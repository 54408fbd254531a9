#!/usr/bin/env node
/**
 * Starts the command line, in any folder and with any Node on the PATH: one that is too old to run TypeScript starts the
 * Node that the project brings.
 */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR = 24
const commandLine = new URL('../src/cli.ts', import.meta.url)

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) {
  await import(commandLine.href)
} else {
  const node = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node')
  const child = spawn(node, [fileURLToPath(commandLine), ...process.argv.slice(2)], { stdio: 'inherit' })
  // A Ctrl+C reaches the child by itself.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code) => process.exit(code ?? 1))
}
