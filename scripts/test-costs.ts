/**
 * `TEST_COSTS=on npm test`, then `npx node scripts/test-costs.ts [N]`: what the tests cost by group, and by file for the N (40) that
 * cost the most: seconds of the clock, and of processors (user and system) by what used them. A file's clock runs while others
 * run beside it. Processes whose parent a test killed are counted nowhere.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { COSTS, type Cost } from '../packages/server/test/costs.ts'
import { GROUP_NAMES, groupOf } from './test-groups.ts'

if (!existsSync(COSTS)) {
  console.error('No run has measured its files. Run `TEST_COSTS=on npm test` on Linux first.')
  process.exit(1)
}

const costs = readdirSync(COSTS).flatMap((name) =>
  readFileSync(`${COSTS}/${name}`, 'utf8')
    .trim()
    .split('\n')
    .map((line): Cost => JSON.parse(line)),
)

const processorMs = ({ workerMs, browserMs, postgresMs, processesMs }: Omit<Cost, 'file' | 'wallMs'>) =>
  workerMs + browserMs + postgresMs + processesMs

const groups = GROUP_NAMES.map((name) => {
  const files = costs.filter(({ file }) => groupOf(file) === name)
  return total(`${name} (${files.length} files)`, files)
})
const files = costs.toSorted((a, b) => processorMs(b) - processorMs(a)).slice(0, Number(process.argv[2] ?? 40))

print('Group', [...groups, total('all', costs)])
print('File', files)

function total(file: string, some: Cost[]): Cost {
  const sum = (key: Exclude<keyof Cost, 'file'>) => some.reduce((all, cost) => all + cost[key], 0)
  return {
    ...{ file, wallMs: sum('wallMs'), workerMs: sum('workerMs'), browserMs: sum('browserMs') },
    ...{ postgresMs: sum('postgresMs'), processesMs: sum('processesMs') },
  }
}

function print(what: string, rows: Cost[]): void {
  console.log(`\n| ${what} | clock, s | processors, s | worker | Chromium | PostgreSQL | other processes |`)
  console.log(`|---|${'---:|'.repeat(6)}`)
  for (const row of rows) {
    const { file, wallMs, workerMs, browserMs, postgresMs, processesMs } = row
    const seconds = [wallMs, processorMs(row), workerMs, browserMs, postgresMs, processesMs].map((ms) =>
      (ms / 1_000).toFixed(ms < 10_000 ? 1 : 0),
    )
    console.log(`| ${file.replace('packages/', '')} | ${seconds.join(' | ')} |`)
  }
}
