import { DefaultReporter, type TestModule } from 'vitest/node'

interface Project {
  files: number
  tests: number
  failed: number
  beganAt: number
  endedAt: number
  /** What its files took, one after the other. */
  workMs: number
}

/**
 * A line for each file, and at the end one for each project: how long it went on and what its files took together. Then the
 * seed of what was drawn at random.
 */
export default class ProjectReporter extends DefaultReporter {
  readonly #projects = new Map<string, Project>()
  readonly #beganAt = new Map<string, number>()

  constructor() {
    super({ summary: false })
  }

  override onTestModuleQueued(module: TestModule): void {
    super.onTestModuleQueued(module)
    this.#beganAt.set(module.moduleId, performance.now())
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module)
    const now = performance.now()
    const beganAt = this.#beganAt.get(module.moduleId) ?? now
    const project = this.#projects.get(module.project.name) ?? {
      ...{ files: 0, tests: 0, failed: 0, workMs: 0 },
      ...{ beganAt, endedAt: now },
    }
    const tests = [...module.children.allTests()]
    project.files += 1
    project.tests += tests.length
    project.failed += tests.filter((test) => test.result().state === 'failed').length
    project.workMs += now - beganAt
    project.endedAt = now
    this.#projects.set(module.project.name, project)
  }

  override onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...args)
    for (const [name, { files, tests, failed, beganAt, endedAt, workMs }] of this.#projects) {
      const took = `${seconds(endedAt - beganAt)} from first to last, ${seconds(workMs)} of work`
      this.log(`${name.padStart(11)}  ${files} files, ${tests} tests${failed > 0 ? `, ${failed} failed` : ''}: ${took}`)
    }
    this.log(`       seed  ${this.ctx.config.sequence.seed}\n`)
  }
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`
}
