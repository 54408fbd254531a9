import { DefaultReporter, type TestModule } from 'vitest/node'
import { groupOf } from './test-groups.ts'

interface Group {
  files: number
  tests: number
  failed: number
  startedAt: number
  endedAt: number
  /** The sum of its files' durations. */
  workMs: number
}

/** Prints a line for each file, and at the end one for each group of files and the seed of random numbers. */
export default class GroupReporter extends DefaultReporter {
  readonly #groups = new Map<string, Group>()
  readonly #startedAt = new Map<string, number>()

  constructor() {
    super({ summary: false })
  }

  override onTestModuleQueued(module: TestModule): void {
    super.onTestModuleQueued(module)
    this.#startedAt.set(module.moduleId, performance.now())
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module)
    const now = performance.now()
    const startedAt = this.#startedAt.get(module.moduleId) ?? now
    const name = groupOf(module.moduleId)
    const group = this.#groups.get(name) ?? {
      ...{ files: 0, tests: 0, failed: 0, workMs: 0 },
      ...{ startedAt, endedAt: now },
    }
    const tests = [...module.children.allTests()]
    group.files += 1
    group.tests += tests.length
    group.failed += tests.filter((test) => test.result().state === 'failed').length
    group.workMs += now - startedAt
    group.endedAt = now
    this.#groups.set(name, group)
  }

  override onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...args)
    for (const [name, { files, tests, failed, startedAt, endedAt, workMs }] of this.#groups) {
      const took = `${seconds(endedAt - startedAt)} from first to last, ${seconds(workMs)} of work`
      this.log(`${name.padStart(11)}  ${files} files, ${tests} tests${failed > 0 ? `, ${failed} failed` : ''}: ${took}`)
    }
    this.log(`       seed  ${this.ctx.config.sequence.seed}\n`)
  }
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`
}
