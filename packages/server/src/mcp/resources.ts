import type { McpServer } from '@modelcontextprotocol/server'
import { readSources, type Source } from '../docs/contents.ts'
import type { Values } from '../operations/declare.ts'
import { DAY_MS, MINUTE_MS } from '../platform/time.ts'
import { openCall, type ToolServices } from './call.ts'
import type { McpCaller } from './caller.ts'
import { asMarkedText } from './results.ts'
import { DESCRIBE_SCHEMA } from './tools/describe-schema.ts'

export interface ResourceServices extends ToolServices {
  sdk: typeof import('@modelcontextprotocol/server')
}

const DOCS = 'cds://docs/'

let sources: Promise<Source[]> | undefined

/** The pages for users, read once: they change only with the service. */
function readPages(): Promise<Source[]> {
  sources ??= readSources().then((pages) => pages.filter(({ section }) => section !== null && section !== 'Project'))
  sources.catch(() => {
    sources = undefined
  })
  return sources
}

/** The schema of the workspace, unless its tool is refused, and the documentation. */
export function addResources(
  server: McpServer,
  dependencies: ResourceServices,
  caller: McpCaller,
  allowedTools: ReadonlySet<string>,
): void {
  if (allowedTools.has(DESCRIBE_SCHEMA.name)) addSchema(server, dependencies, caller)
  addPages(server, dependencies)
}

/** What describe_schema returns. */
function addSchema(server: McpServer, dependencies: ResourceServices, caller: McpCaller): void {
  server.registerResource(
    'schema',
    'cds://schema',
    {
      title: 'Schema of the workspace',
      description: 'Properties, event names, segments and agents, as describe_schema returns them.',
      mimeType: 'text/plain',
      cacheHint: { ttlMs: MINUTE_MS, cacheScope: 'private' },
    },
    async (uri) => {
      const redactor = caller.redacts ? await dependencies.openRedactor(caller.tenant) : null
      const call = openCall(dependencies, caller, redactor, async () => ({ isConfirmed: false }))
      const schema = await DESCRIBE_SCHEMA.run(call, {})
      return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: asMarkedText(schema as Values) }] }
    },
  )
}

function addPages(server: McpServer, { sdk }: Pick<ResourceServices, 'sdk'>): void {
  const template = new sdk.ResourceTemplate(`${DOCS}{+page}`, {
    list: async () => ({
      resources: (await readPages()).map(({ path, title }) => ({
        uri: uriOf(path),
        name: path.slice(1),
        title,
        mimeType: 'text/markdown',
      })),
    }),
    complete: {
      page: async (start) =>
        (await readPages()).map(({ path }) => uriOf(path).slice(DOCS.length)).filter((page) => page.startsWith(start)),
    },
  })
  server.registerResource(
    'docs',
    template,
    {
      title: 'Documentation',
      description: 'How the service works, as Markdown.',
      mimeType: 'text/markdown',
      cacheHint: { ttlMs: DAY_MS, cacheScope: 'public' },
    },
    async (uri) => {
      const page = (await readPages()).find(({ path }) => uriOf(path) === uri.href)
      if (!page) throw new sdk.ResourceNotFoundError(uri.href)
      return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: page.markdown }] }
    },
  )
}

/** `/docs/quickstart/node` is `cds://docs/quickstart/node`, and `/docs` is `cds://docs/index`. */
function uriOf(path: string): string {
  return `${DOCS}${path.replace(/^\/docs\/?/, '') || 'index'}`
}
