import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

/** A code block of a page: ```` ```js title=FILE ````, or ```` ```sh skip ```` for commands that a test cannot run. */
interface Block {
  language: string
  title: string | null
  isSkipped: boolean
  code: string
}

/** The fenced code blocks of a file of docs/. */
export function blocksOf(page: string): Block[] {
  const blocks = readFileSync(`docs/${page}`, 'utf8').matchAll(/^```(\w+)(.*)\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, language = '', more = '', code = '']) => ({
    language,
    title: /title=(\S+)/.exec(more)?.[1] ?? null,
    isSkipped: / skip\b/.test(more),
    code,
  }))
}

/** Where a reader finds the service. */
interface Access {
  url: string
  key: string
}

/** Code in which a reader has replaced the placeholders. */
function filledIn(code: string, { url, key }: Access): string {
  return code.replaceAll('https://cds.example.com', url).replaceAll('YOUR_API_KEY', key)
}

/** A folder with the files of a page, which is removed when the test ends. */
export function folderOf(page: string, access: Access = { url: '', key: '' }): string {
  const folder = mkdtempSync(join(tmpdir(), 'cds-docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFilesOf(page, folder, access)
  return folder
}

/** Writes the files of a page, over those of pages before it with the same names. */
export function writeFilesOf(page: string, folder: string, access: Access): void {
  for (const { title, code } of blocksOf(page)) {
    if (title !== null && !title.includes('/')) writeFileSync(join(folder, title), filledIn(code, access))
  }
}

/** Packs and installs the client as `docs/client.md` says. @returns the folder where it is installed. */
export function installClient(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cds-package-'))
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: folder, stdio: 'pipe' })
  npm('pack', resolve('packages/client'), '--pack-destination', folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  npm('install', `./${file}`, '--offline', '--no-audit', '--no-fund')
  return folder
}

/** The commands of a page that a reader runs one after another. */
export function commandsOf(page: string): string[] {
  return blocksOf(page).flatMap(({ language, isSkipped, code }) => (language === 'sh' && !isSkipped ? [code] : []))
}

/** Whether a program that documented code runs is on this machine. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0
}

/**
 * Runs a command like a reader: with bash, in a folder, with a URL and a key.
 * @returns what it prints
 * @throws Error if it fails, also if the service returns an error to curl
 */
export async function runCommand(
  command: string,
  folder: string,
  { url, key, ...more }: Access & Record<string, string>,
): Promise<string> {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const functions = [
    'curl() { command curl --silent --show-error --fail-with-body "$@"; }',
    // A reader's service has one tenant, which needs no name.
    `npx() { node '${resolve('packages/server/bin')}'/"$1".js "\${@:2}" \${TENANT_ID:+--tenant "$TENANT_ID"}; }`,
  ]
  const script = [...functions, filledIn(command, { url, key })].join('\n')
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH, CDS_URL: url, CDS_KEY: key, ...more },
  })
  return stdout
}
