import { type Compressed, compress } from '../platform/http/compressed.ts'
import { type BuiltAssets, buildAssets, buildViewer } from './assets.ts'
import { readSources } from './contents.ts'
import { apiHtml, pageHtml, unknownPageHtml } from './layout.ts'
import { renderPage } from './markdown.ts'
import { searchIndex } from './search-index.ts'

const HTML = 'text/html; charset=utf-8'

/** The documentation, rendered. */
export interface Site {
  assets: BuiltAssets
  /** Pages by path. */
  pages: ReadonlyMap<string, Compressed>
  unknownPage: Compressed
  search: Compressed
  /** The page of the API reference. */
  openApiPage(): Promise<Compressed>
}

/** Renders all pages of docs/. @param api openapi.json, whose operations can be searched */
export async function buildSite(api: { paths?: object }): Promise<Site> {
  const [assets, sources] = await Promise.all([buildAssets(), readSources()])
  const rendered = sources.map((source) => ({ source, rendered: renderPage(source, sources) }))
  const pages = await Promise.all(
    rendered.map(async (page) => {
      const html = pageHtml(page.source, page.rendered, sources, assets.urls)
      return [page.source.path, await compress(html, HTML, 9)] as const
    }),
  )
  return {
    assets,
    pages: new Map(pages),
    unknownPage: await compress(unknownPageHtml(sources, assets.urls), HTML, 9),
    search: await compress(JSON.stringify(searchIndex(rendered, api)), 'application/json; charset=utf-8', 9),
    openApiPage: async () => compress(apiHtml(assets.urls, (await buildViewer()).url), HTML, 9),
  }
}
