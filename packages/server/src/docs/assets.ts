import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bundleForBrowser } from '@customer-data-service/tracker/build'
import Fastify from 'fastify'
import { type Compressed, compress } from '../platform/http/compressed.ts'
import type { Assets } from './layout.ts'

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** The dashboard's font, with the style that names its files. */
const FONT = fileURLToPath(new URL('../../../dashboard/src/ui/inter/', import.meta.url))
const FONT_FILES = ['inter.woff2', 'inter-digits.woff2']

/** Each asset, and how it is made. */
const MADE: Record<keyof Assets, { extension: 'js' | 'css'; make: (fonts: Font[]) => Promise<Compressed> }> = {
  style: { extension: 'css', make: async (fonts) => styleOf('docs.css', await fontStyle(fonts)) },
  theme: { extension: 'js', make: () => scriptOf('theme.ts') },
  site: { extension: 'js', make: () => scriptOf('site.ts') },
  apiStyle: { extension: 'css', make: () => styleOf('api.css') },
  api: { extension: 'js', make: () => scriptOf('api.ts') },
}

export interface BuiltAssets {
  urls: Assets
  byName: ReadonlyMap<string, Compressed>
  fonts: ReadonlyMap<string, Buffer>
}

interface Font {
  file: string
  /** Changes with its content. */
  name: string
  content: Buffer
}

let built: Promise<BuiltAssets> | undefined
let viewer: Promise<Viewer> | undefined

/** Builds the scripts and styles of the site, once for the process. Their names change with their content. */
export function buildAssets(): Promise<BuiltAssets> {
  built ??= build()
  return built
}

async function build(): Promise<BuiltAssets> {
  const fonts = await Promise.all(FONT_FILES.map(readFont))
  const made = await Promise.all(
    Object.entries(MADE).map(async ([key, { extension, make }]) => {
      const asset = await make(fonts)
      return { key, asset, name: `${key}-${asset.hash}.${extension}` }
    }),
  )
  const urls = Object.fromEntries(made.map(({ key, name }) => [key, `/docs/assets/${name}`]))
  return {
    urls: urls as unknown as Assets,
    byName: new Map(made.map(({ name, asset }) => [name, asset])),
    fonts: new Map(fonts.map(({ name, content }) => [name, content])),
  }
}

/** The script of the API reference's viewer. */
export interface Viewer {
  url: string
  name: string
  script: Compressed
}

/** Compresses the viewer, which takes a second, when the API reference is first opened. */
export function buildViewer(): Promise<Viewer> {
  viewer ??= readViewer()
  return viewer
}

const inBrowser = (name: string) => fileURLToPath(new URL(`./browser/${name}`, import.meta.url))

async function readFont(file: string): Promise<Font> {
  const content = await readFile(`${FONT}${file}`)
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  return { file, name: file.replace('.', `-${hash}.`), content }
}

async function styleOf(name: string, before = ''): Promise<Compressed> {
  return compress(before + (await readFile(inBrowser(name), 'utf8')), STYLE)
}

async function fontStyle(fonts: Font[]): Promise<string> {
  const style = await readFile(`${FONT}inter.css`, 'utf8')
  return fonts.reduce((text, font) => text.replace(`url("./${font.file}")`, `url("${font.name}")`), style)
}

async function scriptOf(name: string): Promise<Compressed> {
  return compress(await bundleForBrowser(inBrowser(name), 'iife'), SCRIPT)
}

/**
 * The viewer of the API reference. Its package hands out the script only through a plugin, whose page has inline scripts;
 * so the script is taken from the plugin, and our own page uses it.
 */
async function readViewer(): Promise<Viewer> {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(plugin, { routePrefix: '/viewer', configuration: { url: '/openapi.json' } })
  const { statusCode, body } = await app.inject('/viewer/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error(`The viewer of the API reference has no script (${statusCode}).`)
  const script = await compress(body, SCRIPT, 9)
  const name = `viewer-${script.hash}.js`
  return { url: `/docs/assets/${name}`, name, script }
}
