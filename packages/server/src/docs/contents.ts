import { readdir, readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url))
const DECISIONS = 'docs/decisions'

/** The navigation: files below docs/. A file that is not named here is listed under the last section. */
const SECTIONS: { title: string; files: string[] }[] = [
  { title: 'Start here', files: ['README.md', 'concepts.md'] },
  {
    title: 'Quick starts',
    files: ['website', 'nextjs', 'node', 'python', 'hubspot'].map((name) => `quickstart/${name}.md`),
  },
  {
    title: 'Recipes',
    files: [
      'link-a-signed-in-user',
      'receive-a-webhook',
      'contacts-who-viewed-pricing',
      'export-everything',
      'erase-a-person',
      'draft-follow-ups',
    ].map((name) => `recipes/${name}.md`),
  },
  {
    title: 'Guides',
    files: [
      'tracker.md',
      'sources.md',
      'connectors.md',
      'connectors-hubspot.md',
      'connectors-salesforce.md',
      'connectors-pipedrive.md',
      'from-segment.md',
      'client.md',
      'identification.md',
      'enrichment.md',
      'computed-properties.md',
      'importing.md',
      'connectors-posthog.md',
      'connectors-mixpanel.md',
      'connectors-amplitude.md',
      'segments.md',
      'scores.md',
      'insights.md',
      'webhooks.md',
      'hooks.md',
      'warehouse.md',
      'agents.md',
      'agents-actions.md',
      'mcp.md',
      'identities.md',
      'conversations.md',
      'social-gateway.md',
      'dashboard.md',
    ],
  },
  {
    title: 'Deployment',
    files: [
      ...['systemd', 'container', 'proxy', 'databases', 'backup', 'upgrade'].map((name) => `deploy/${name}.md`),
      'running.md',
      'scaling.md',
      'security.md',
    ],
  },
  { title: 'Reference', files: ['api-decisions.md', 'cli.md', 'settings.md'] },
  {
    title: 'Project',
    files: [
      'performance.md',
      'interface-coverage.md',
      'connectors-tests.md',
      'decisions',
      '../CONTRIBUTING.md',
      '../CHANGELOG.md',
    ],
  },
]

/** A page of the documentation before it is rendered. */
export interface Source {
  /** Where it is served, such as `/docs/quickstart/node`. */
  path: string
  /** Relative to the repository. */
  file: string
  title: string
  markdown: string
  /** Its heading in the navigation; null for a page that only another page lists. */
  section: string | null
}

/** Every page, in the order of the navigation. */
export async function readSources(): Promise<Source[]> {
  const decisions = (await readdir(`${REPOSITORY}${DECISIONS}`)).filter((name) => name.endsWith('.md')).sort()
  const found = (await readdir(`${REPOSITORY}docs`, { recursive: true })).filter(
    (name) => name.endsWith('.md') && !name.startsWith('decisions/'),
  )
  const placed = SECTIONS.flatMap(({ files }) => files)
  const others = found.filter((name) => !placed.includes(name)).sort()
  const exists = (name: string) => name.startsWith('..') || name === 'decisions' || found.includes(name)
  const sections = SECTIONS.map((section, index) =>
    index < SECTIONS.length - 1 ? section : { ...section, files: [...section.files, ...others] },
  )
  const listed = sections.flatMap(({ title, files }) =>
    files.filter(exists).map((name) => ({ file: posix.join('docs', name), section: title })),
  )
  const pages = await Promise.all([
    ...listed.filter(({ file }) => file !== DECISIONS).map(({ file, section }) => readSource(file, section)),
    ...decisions.map((name) => readSource(`${DECISIONS}/${name}`, null)),
  ])
  const list = pages.filter(({ file }) => file.startsWith(`${DECISIONS}/`))
  const ofDecisions = {
    path: pathOf(DECISIONS),
    file: `${DECISIONS}/README.md`,
    title: 'Design decisions',
    markdown: `# Design decisions\n\nOne page for each choice that a successor would question: the context, the choice, what was measured and what was given up.\n\n${list.map(({ title, file }) => `- [${title}](${posix.basename(file)})`).join('\n')}`,
    section: listed.find(({ file }) => file === DECISIONS)?.section ?? null,
  }
  const place = ({ file }: Source) => listed.findIndex((entry) => entry.file === file)
  const after = listed.findIndex(({ file }) => file === DECISIONS)
  const ordered = pages.filter(({ section }) => section !== null).sort((one, other) => place(one) - place(other))
  return [
    ...ordered.filter((page) => place(page) < after),
    ofDecisions,
    ...ordered.filter((page) => place(page) > after),
    ...list,
  ]
}

async function readSource(file: string, section: string | null): Promise<Source> {
  const markdown = await readFile(`${REPOSITORY}${file}`, 'utf8')
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll(/[`*_]/g, '') ?? file
  return { path: pathOf(file), file, title, markdown, section }
}

/** `docs/quickstart/node.md` is served at `/docs/quickstart/node`, and a README.md at its folder. */
function pathOf(file: string): string {
  const name = file
    .replace(/^docs(\/|$)/, '')
    .replace(/(^|\/)README\.md$/, '')
    .replace(/\.md$/, '')
  return `/docs${name === '' ? '' : `/${name.toLowerCase()}`}`
}

/** A file of docs/images. @throws ENOENT */
export function readImage(name: string): Promise<Buffer> {
  return readFile(`${REPOSITORY}docs/images/${name}`)
}

/**
 * Where a link of a file leads on the site, or null for a file that the site does not serve.
 * @param target relative to the file, as it works in the repository
 */
export function resolveLink(file: string, target: string, sources: readonly Source[]): string | null {
  if (/^([a-z]+:|#)/i.test(target)) return target
  const [link = '', fragment] = target.split('#')
  const path = posix.join(posix.dirname(file), link).replace(/\/$/, '')
  const anchor = fragment === undefined ? '' : `#${fragment}`
  if (path === 'openapi.json') return '/docs/api'
  if (path.startsWith('docs/images/')) return `/${path}`
  const page = sources.find((source) => source.file === path || source.file === `${path}/README.md`)
  return page ? page.path + anchor : null
}
