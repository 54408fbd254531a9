/**
 * Installs what the tests need besides npm's packages: Debian's Chromium, PostgreSQL, dovecot, curl and Python. If that is
 * not possible, it says so, and the tests that need a missing one are skipped by name.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { COSTS } from '../packages/server/test/costs.ts'

const WANTED = [
  {
    package: 'chromium-headless-shell',
    present: () => existsSync('/usr/bin/chromium-headless-shell'),
    needed: 'the browser tests (if there is no other Chromium)',
  },
  {
    package: 'postgresql',
    present: () => existsSync('/usr/lib/postgresql'),
    needed: "the tests of Debian's PostgreSQL",
  },
  ...['curl', 'python3'].map((program) => ({
    package: program,
    present: () => spawnSync(program, ['--version']).status === 0,
    needed: `the tests of the documentation's code that run ${program}`,
  })),
  { package: 'dovecot-imapd', present: () => existsSync('/usr/lib/dovecot/imap'), needed: 'the tests of mailboxes' },
]

// What an earlier run recorded, for docs/interface-coverage.md and scripts/test-costs.ts.
rmSync('node_modules/.cache/interface-coverage', { recursive: true, force: true })
rmSync(COSTS, { recursive: true, force: true })

const missing = WANTED.filter(({ present }) => !present())
if (missing.length > 0) install(missing.map((wanted) => wanted.package))
for (const { package: name, present, needed } of missing) {
  if (!present())
    console.error(
      `! ${name} is not installed and could not be: ${needed} will be skipped. Install it with: apt-get install ${name}`,
    )
}

function install(names: string[]): void {
  const isRoot = process.getuid?.() === 0
  const hasApt = existsSync('/usr/bin/apt-get')
  if (!isRoot || !hasApt) {
    console.error(`! ${names.join(' and ')} can be installed by root with apt-get only.`)
    return
  }
  console.error(`· installing ${names.join(' and ')} with apt-get`)
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }
  spawnSync('apt-get', ['update', '-q'], options)
  spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...names], options)
}
