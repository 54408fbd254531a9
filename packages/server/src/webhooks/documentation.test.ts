import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant } from '../../test/service.ts'
import { arrived, startWebhookBench, type WebhookBench } from '../../test/webhooks.ts'

const DOCUMENT = readFileSync('docs/webhooks.md', 'utf8')
const PROGRAMS = {
  js: {
    command: [process.execPath],
    file: 'verify.mjs',
    end: `
import { readFileSync } from 'node:fs'
const [body, header, secret] = process.argv.slice(2)
console.log(isGenuine(readFileSync(body), header, secret))`,
  },
  python: {
    command: ['python3'],
    file: 'verify.py',
    end: `
import sys
print(str(is_genuine(open(sys.argv[1], "rb").read(), sys.argv[2], sys.argv[3])).lower())`,
  },
}

let bench: WebhookBench
let directory: string
beforeAll(async () => {
  bench = await startWebhookBench()
  directory = mkdtempSync(join(tmpdir(), 'cds-verify-'))
})
afterAll(async () => {
  await bench.close()
  rmSync(directory, { recursive: true, force: true })
})

const isThere = (command: string) => spawnSync(command, ['--version']).status === 0

test.for(['js', 'python'] as const)(
  'docs/webhooks.md: the verification in %s accepts a real delivery and nothing else',
  async (language, { skip }) => {
    const { command, file, end } = PROGRAMS[language]
    const [program = '', ...options] = command
    skip(!isThere(program), `${program} is not installed`)
    const tenant = await createTestTenant(bench.service)
    const { signingSecret } = await bench.subscribe(tenant, { url: bench.receiver.url(`/${language}`) })
    await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', title: 'Grüße 🎈' }] })
    const [request] = await arrived(bench.receiver, `/${language}`, 1)
    const { body = Buffer.alloc(0), headers } = request ?? {}
    const code = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(DOCUMENT)?.[1] ?? ''
    writeFileSync(join(directory, file), code + end)
    const verify = (bytes: Buffer, header: string, secret: string) => {
      const bodyFile = join(directory, 'body')
      writeFileSync(bodyFile, bytes)
      const run = spawnSync(program, [...options, join(directory, file), bodyFile, header, secret], {
        encoding: 'utf8',
      })
      return run.stdout.trim() || run.stderr
    }
    const header = String(headers?.['x-service-signature'])
    expect(verify(body, header, signingSecret)).toBe('true')
    expect(verify(Buffer.concat([body, Buffer.from(' ')]), header, signingSecret)).toBe('false')
    expect(verify(body, header.replace('sha256=', ''), signingSecret)).toBe('false')
    expect(verify(body, `${header.slice(0, -1)}x`, signingSecret)).toBe('false')
    expect(verify(body, 'sha256=', signingSecret)).toBe('false')
    expect(verify(body, header, `${signingSecret}A`)).toBe('false')
  },
)
