import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from './webhooks.ts'

/** The demo loads sample data first. */
const READY_WITHIN_MS = 240_000

export interface Running {
  process: ChildProcessWithoutNullStreams
  output(): string
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>
}

/** Runs a program that starts the service, until its output matches. */
export async function runProgram(
  file: string,
  args: string[],
  environment: Record<string, string>,
  ready: RegExp,
): Promise<Running> {
  const child = spawn(file, args, { env: { ...process.env, PORT: '0', ...environment } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  const isReady = () => {
    if (ready.test(output)) return
    throw new Error(child.exitCode === null ? `not ready: ${output}` : `ended with ${child.exitCode}: ${output}`)
  }
  await until(isReady, READY_WITHIN_MS).catch((error) => {
    child.kill()
    throw error
  })
  return { process: child, output: () => output, ended }
}
