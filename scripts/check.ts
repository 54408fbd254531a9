/** `npm run check`: all checks that do not need the running service, in parallel. */
import { spawn } from 'node:child_process'

const CHECKS: [name: string, ...command: string[]][] = [
  // On two cores, more threads would take twice the processor time, and no less of the clock: each checks shared types anew.
  ['types', 'tsc', '--noEmit', '--singleThreaded'],
  ['size of the dashboard', 'node', 'packages/dashboard/check-size.ts'],
  ['unused code', 'knip'],
  ['style', 'biome', 'check', '.'],
  ['house rules', 'node', 'scripts/check-house.ts'],
  ['size of the tracker', 'node', 'packages/tracker/check-size.ts'],
]

const failures = await Promise.all(CHECKS.map(check))
process.exitCode = failures.some((failed) => failed) ? 1 : 0

/** Runs a check and prints its result; if it fails, its output follows, else only its notes. */
function check([name, program = '', ...args]: (typeof CHECKS)[number]): Promise<boolean> {
  const beganAt = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('error', reject)
    child.on('close', (code) => {
      const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1)
      console.log(` ${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)`)
      const notes = output.split('\n').filter((line) => line.startsWith('note: '))
      if (code !== 0) console.log(output)
      else for (const note of notes) console.log(`   ${note}`)
      resolve(code !== 0)
    })
  })
}
