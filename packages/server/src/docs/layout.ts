import type { Source } from './contents.ts'
import { escapeHtml } from './html.ts'
import type { Part, Rendered } from './markdown.ts'

/** The URLs of the scripts and styles. */
export interface Assets {
  style: string
  theme: string
  site: string
  apiStyle: string
  api: string
}

const ICONS = {
  menu: '<path d="M4 7h16M4 12h16M4 17h16"/>',
  search: '<circle cx="11" cy="11" r="6"/><path d="m20 20-4.5-4.5"/>',
  theme: '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>',
}

function icon(name: keyof typeof ICONS): string {
  return `<svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true">${ICONS[name]}</svg>`
}

function frame(title: string, current: 'docs' | 'api', assets: Assets, head: string, body: string): string {
  const link = (href: string, text: string, isCurrent: boolean) =>
    `<a href="${href}"${isCurrent ? ' aria-current="true"' : ''}>${text}</a>`
  return `<!doctype html>
<html lang="en" data-mantine-color-scheme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.svg">
<script src="${assets.theme}"></script>
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.site}" defer></script>
${head}</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<button type="button" id="menu" class="icon open-menu" aria-label="Navigation" aria-controls="contents" aria-expanded="false" hidden>${icon('menu')}</button>
<a class="brand" href="/docs"><img src="/favicon.svg" alt="" width="26" height="26"><span>Customer Data</span></a>
<nav class="places" aria-label="Site">
${link('/docs', 'Docs', current === 'docs')}
${link('/docs/api', 'API reference', current === 'api')}
${link('/', 'Dashboard', false)}
</nav>
<button type="button" id="search" class="open-search" aria-keyshortcuts="/" hidden>${icon('search')}<span>Search</span><kbd aria-hidden="true">/</kbd></button>
<button type="button" id="scheme" class="icon" hidden>${icon('theme')}</button>
</header>
${body}
</body>
</html>
`
}

/** A page of the documentation. */
export function pageHtml(
  source: Source,
  { html, parts }: Rendered,
  sources: readonly Source[],
  assets: Assets,
): string {
  const listed = sources.filter(({ section }) => section !== null)
  const place = listed.indexOf(source)
  const previous = place > 0 ? listed[place - 1] : undefined
  const next = place < 0 ? undefined : listed[place + 1]
  const isHome = source.path === '/docs'
  const title = isHome ? 'Customer Data Service documentation' : `${source.title} · Customer Data Service`
  const body = `<div class="frame">
${contentsHtml(source, listed)}
<main id="main" tabindex="-1">
<article>
${html}</article>
<nav class="neighbors" aria-label="Previous and next page">
${neighbor('previous', 'Previous', previous)}${neighbor('next', 'Next', next)}</nav>
</main>
${outlineHtml(parts)}
</div>`
  return frame(title, 'docs', assets, '', body)
}

function contentsHtml(current: Source, listed: readonly Source[]): string {
  // A decision is listed on the page of all decisions.
  const path = current.section === null ? current.path.slice(0, current.path.lastIndexOf('/')) : current.path
  const sections = [...Map.groupBy(listed, ({ section }) => section ?? '')].map(([title, pages]) => {
    const links = pages.map((page) => {
      const mark = page.path === path ? ' aria-current="page"' : ''
      return `<li><a href="${page.path}"${mark}>${escapeHtml(page.title)}</a></li>`
    })
    return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
  })
  return `<nav id="contents" class="contents" aria-label="Documentation">\n${sections.join('\n')}\n</nav>`
}

function neighbor(rel: 'previous' | 'next', label: string, page: Source | undefined): string {
  if (!page) return '<span></span>\n'
  return `<a class="${rel}" href="${page.path}"><small>${label}</small> ${escapeHtml(page.title)}</a>\n`
}

function outlineHtml(parts: readonly Part[]): string {
  const headings = parts.filter(({ depth }) => depth === 2)
  if (headings.length < 2) return '<div class="outline"></div>'
  const links = headings.map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`)
  return `<nav class="outline" aria-labelledby="outline">\n<h2 id="outline">On this page</h2>\n<ul>\n${links.join('\n')}\n</ul>\n</nav>`
}

/** The page for an unknown path below /docs. */
export function unknownPageHtml(sources: readonly Source[], assets: Assets): string {
  const unknown = { path: '', file: '', title: 'Page not found', markdown: '', section: 'none' }
  const html = '<h1>Page not found</h1>\n<p>There is no such page. Search, or choose one from the navigation.</p>\n'
  return pageHtml(unknown, { html, parts: [] }, sources, assets)
}

/** The page in which the API reference opens. */
export function apiHtml(assets: Assets, viewer: string): string {
  const head = `<link rel="stylesheet" href="${assets.apiStyle}">
<script src="${viewer}" defer></script>
<script src="${assets.api}" defer></script>
`
  const body = `<div id="main" tabindex="-1">
<h1 class="unseen">API reference</h1>
<div id="api"><p class="loading">Loading the API reference… It needs JavaScript; <a href="/openapi.json">openapi.json</a> has the same content.</p></div>
</div>`
  return frame('API reference · Customer Data Service', 'api', assets, head, body)
}
