import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const DOCUMENT = readFileSync('docs/identification.md', 'utf8')
/** Turns the code into a program that prints the hash of its arguments. */
const PROGRAMS = {
  js: {
    command: [process.execPath],
    file: 'hash.mjs',
    end: '\nconsole.log(userHash(...process.argv.slice(2)))',
  },
  python: { command: ['python3'], file: 'hash.py', end: '\nimport sys\nprint(user_hash(*sys.argv[1:]))' },
  php: { command: ['php'], file: 'hash.php', start: '<?php\n', end: '\necho user_hash($argv[1], $argv[2]);' },
  go: {
    command: ['go', 'run'],
    file: 'hash.go',
    end: '\nfunc main() { os.Stdout.WriteString(UserHash(os.Args[1], os.Args[2])) }',
  },
} as const
const LANGUAGES = ['js', 'python', 'php', 'go'] as const

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cds-sign-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const codeOf = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(DOCUMENT)?.[1] ?? ''

test.for(LANGUAGES)(
  'docs/identification.md: the %s code makes the hash that the service expects',
  (language, { skip }) => {
    const { command, file, end, ...more } = PROGRAMS[language]
    const [program, ...options] = command
    const isThere = spawnSync(program, [language === 'go' ? 'version' : '--version']).status === 0
    skip(!isThere, `${program} is not installed`)
    const start = 'start' in more ? more.start : ''
    const code = codeOf(language).replace('import (', 'import (\n\t"os"')
    writeFileSync(join(directory, file), start + code + end)
    for (const text of ['user-42', 'ada@example.com', 'Grüße 🎈']) {
      const secret = 'cdsid_fNJ0nOaBq0ORk4P8xKsE5ZrC5rVt1fMZk1mS9r4J0yE'
      const run = spawnSync(program, [...options, join(directory, file), secret, text], {
        encoding: 'utf8',
        env: { ...process.env, GOCACHE: join(directory, 'go-cache'), GOFLAGS: '-mod=mod', GO111MODULE: 'off' },
      })
      expect(run.stdout.trim() || run.stderr).toBe(createHmac('sha256', secret).update(text).digest('hex'))
    }
  },
)
