import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

const MAIN = 'packages/server/test/command-line-main.ts'

export interface Call {
  args: string[]
  environment: Record<string, string>
}

/** The result of a call. */
export interface Called {
  exit: number
  stdout: string
  stderr: string
}

/**
 * `cdsctl` without starting a process for each call, most of which is loading code. The tests of the embedded databases
 * start the program itself.
 */
export class CommandLine {
  readonly #process: ChildProcess
  #last: Promise<unknown> = Promise.resolve()

  constructor(environment: Record<string, string>) {
    this.#process = fork(MAIN, { env: { ...process.env, ...environment }, stdio: 'inherit' })
  }

  /** Runs `cdsctl ARGS --json`, one call at a time. */
  run(args: string[], environment: Record<string, string> = {}): Promise<Called> {
    const call = async () => {
      const called = once(this.#process, 'message')
      this.#process.send({ args: [...args, '--json'], environment } satisfies Call)
      const [message] = await called
      return message as Called
    }
    const result = this.#last.then(call)
    this.#last = result.catch(() => {})
    return result
  }

  /** @returns the JSON output of a call; with `exit` if it fails. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
  async json(...args: string[]): Promise<any> {
    const { exit, stdout } = await this.run(args)
    return { ...JSON.parse(stdout), ...(exit === 0 ? {} : { exit }) }
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const exited = once(this.#process, 'exit')
    this.#process.kill()
    await exited
  }
}
