import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { commandsOf, folderOf, installClient, runCommand } from '../../server/test/docs-code.ts'
import { createTestTenant, sharedService, type TestService } from '../../server/test/service.ts'

/** The package as it would be published, installed as a user installs it, running the code of its documentation. */
const NAME = '@customer-data-service/client'
const GUIDE = 'client.md'
const README = '../packages/client/README.md'

let service: TestService
let installed: string
beforeAll(async () => {
  service = await sharedService()
  installed = installClient()
})
afterAll(() => rmSync(installed, { recursive: true, force: true }))

/** Finds the machine's own Node before this repository's, which is newer: the package is for Node 20 too. */
const PATH = [
  ...(process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules')),
  dirname(process.execPath),
].join(delimiter)

/** A folder with the files of a page, from where the package is found. */
function folderWithPackage(page: string): string {
  const folder = folderOf(page)
  symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

test('the package has the code, types, a license and a README, and needs nothing else', () => {
  const root = join(installed, 'node_modules', NAME)
  expect(readdirSync(root).toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  expect(readdirSync(join(installed, 'node_modules', '@customer-data-service'))).toEqual(['client'])
  expect(readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'))).toHaveLength(1)
  const { dependencies, private: isPrivate } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect([dependencies, isPrivate]).toEqual([undefined, undefined])
})

test('the package has every file that it exports', () => {
  const root = join(installed, 'node_modules', NAME)
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const pathsOf = (target: unknown): string[] =>
    typeof target === 'object' && target !== null ? Object.values(target).flatMap(pathsOf) : [String(target)]
  expect(pathsOf(exports).length).toBeGreaterThan(0)
  expect(pathsOf(exports).filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('a TypeScript program gets types for inputs, responses and records of lists', () => {
  const program = `import { CustomerData, type Contact, type CreateContactInput } from '${NAME}'
    const client = new CustomerData({ url: 'http://localhost', apiKey: 'cds_' })
    const input: CreateContactInput = { email: 'a@example.com' }
    const contact: Contact = (await client.createContact(input)).contact
    for await (const { name } of client.listCompanies()) name satisfies string | null
    // @ts-expect-error an email is required
    await client.createContact({})
    // @ts-expect-error no such parameter
    await client.listContacts({ serach: 'ada' })
    console.log(contact.contact_id)`
  writeFileSync(join(installed, 'program.ts'), program)
  const flags = '--ignoreConfig --noEmit --strict --target es2022 --module nodenext --lib es2024,dom,dom.iterable'
  const compiler = join(process.cwd(), 'node_modules/.bin/tsc')
  execFileSync(compiler, ['program.ts', ...flags.split(' '), '--types', ''], { cwd: installed, stdio: 'pipe' })
})

test("the code of the guide works as printed, on the machine's own Node", async () => {
  const tenant = await createTestTenant(service)
  const folder = folderWithPackage(GUIDE)
  const printed: string[] = []
  for (const command of commandsOf(GUIDE)) {
    printed.push(await runCommand(command, folder, { url: service.url, key: tenant.key, PATH }))
  }
  const [called, listed, failed, tracked] = printed
  expect(called).toBe('New York\n')
  expect(listed).toBe('1 contacts\nkatherine@example.com\n')
  expect(failed).toMatch(/^400 validation_error\nemail .+\n$/)
  expect(tracked).toBe('')
  const { events } = (await tenant.call('GET', '/v1/events')).body
  expect(events).toMatchObject([{ event: 'order_placed', contact: { email: 'linus@example.com' } }])
})

test('the server of the guide accepts a signed webhook and refuses another', async () => {
  const secret = `whsec_${Buffer.from('secret').toString('base64')}`
  const folder = folderWithPackage(GUIDE)
  const file = join(folder, 'receive.mjs')
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('listen(4000)', 'listen(0, function () { console.log(this.address().port) })'),
  )
  const child = spawn('node', [file], { env: { ...process.env, PATH, WEBHOOK_SECRET: secret } })
  onTestFinished(() => void child.kill())
  const lines = child.stdout.setEncoding('utf8')[Symbol.asyncIterator]()
  const port = Number((await lines.next()).value)
  const body = JSON.stringify({ event: 'page_view', data: { url: 'https://example.com/' } })
  const at = new Date()
  const headers = {
    'webhook-id': 'e-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('e-1', at, body),
  }
  const post = (text: string) => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })
  expect((await post(body)).status).toBe(200)
  expect((await lines.next()).value).toBe('page_view https://example.com/\n')
  expect((await post(`${body} `)).status).toBe(400)
})

test('the code of the README works as printed', async () => {
  const tenant = await createTestTenant(service)
  const folder = folderWithPackage(README)
  const run = (file: string) => runCommand(`node ${file}`, folder, { url: service.url, key: tenant.key })
  expect(await run('contacts.mjs')).toBe('created Ada\nfound ada@example.com\n')
  expect(await run('events.mjs')).toBe('')
  const { events } = (await tenant.call('GET', '/v1/events')).body
  expect(events).toMatchObject([{ event: 'order_placed', contact: { email: 'ada@example.com' } }])
})
