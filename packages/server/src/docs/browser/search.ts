import type { SearchEntry } from '../search-index.ts'

const RESULTS_MAX = 12
const EXCERPT_CHARACTERS = 150
const CHARACTERS_BEFORE_WORD = 40

/** The search dialog: opened by its button or `/`, over an index that is fetched when it first opens. */
export function setUpSearch(): void {
  const opener = document.getElementById('search')
  if (!opener) return
  const { dialog, field, list, status } = createDialog()
  document.body.append(dialog)
  opener.hidden = false
  let entries: Promise<SearchEntry[]> | undefined
  const load = () => {
    entries ??= fetchEntries().catch((error) => {
      entries = undefined
      throw error
    })
    return entries
  }

  const show = async () => {
    const words = wordsOf(field.value)
    try {
      const results = words.length === 0 ? [] : find(await load(), words)
      // A later key has been pressed meanwhile.
      if (wordsOf(field.value).join(' ') !== words.join(' ')) return
      list.replaceChildren(...results.map((entry) => resultOf(entry, words)))
      status.textContent = words.length === 0 ? '' : countOf(results.length)
    } catch {
      status.textContent = 'The search could not be loaded. Check your connection and type again.'
    }
  }
  const open = () => {
    dialog.showModal()
    field.select()
    load().catch(() => {})
  }
  opener.addEventListener('click', open)
  addEventListener('keydown', (event) => {
    const { target } = event
    const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null
    const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping
    if (!isSlash || dialog.open) return
    event.preventDefault()
    open()
  })
  field.addEventListener('input', () => void show())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close()
  })
  dialog.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')]
    const current = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (event.key === 'Enter' && document.activeElement === field) links[0]?.click()
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const next = current + step
    ;(next < 0 ? field : (links[next] ?? links.at(-1) ?? field)).focus()
  })
}

async function fetchEntries(): Promise<SearchEntry[]> {
  const response = await fetch('/docs/search.json')
  if (!response.ok) throw new Error(String(response.status))
  return response.json()
}

function countOf(count: number): string {
  if (count === 0) return 'Nothing found'
  if (count === RESULTS_MAX) return `The best ${RESULTS_MAX} results`
  return count === 1 ? '1 result' : `${count} results`
}

function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

/** The entries that contain every word, those in titles first. */
function find(entries: readonly SearchEntry[], words: readonly string[]): SearchEntry[] {
  const scored = entries.flatMap((entry) => {
    const heading = (entry.heading ?? '').toLowerCase()
    const page = entry.page.toLowerCase()
    const text = entry.text.toLowerCase()
    let score = entry.heading === null ? 2 : 0
    for (const word of words) {
      const inHeading = rank(heading, word)
      const inPage = rank(page, word)
      const inText = rank(text, word)
      if (inHeading + inPage + inText === 0) return []
      score += inHeading * 8 + inPage * 5 + inText
    }
    if (heading.includes(words.join(' ')) || page.includes(words.join(' '))) score += 6
    return [{ entry, score }]
  })
  return scored
    .sort((one, other) => other.score - one.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry)
}

/** 2 if a word of the text begins with it, 1 if it is elsewhere, 0 if it is not there. */
function rank(text: string, word: string): 0 | 1 | 2 {
  const place = text.indexOf(word)
  if (place < 0) return 0
  const isStart = (at: number) => at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1] ?? '')
  for (let at = place; at >= 0; at = text.indexOf(word, at + 1)) if (isStart(at)) return 2
  return 1
}

function resultOf({ url, page, heading, text }: SearchEntry, words: readonly string[]): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = url
  const title = document.createElement('strong')
  title.append(...marked(heading ?? page, words))
  const place = document.createElement('small')
  place.textContent = heading === null ? '' : page
  const excerpt = document.createElement('span')
  excerpt.append(...marked(excerptOf(text, words), words))
  link.append(title, ' ', place, excerpt)
  item.append(link)
  return item
}

/** The text around the first word. */
function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0)
  const from = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - CHARACTERS_BEFORE_WORD)
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1
  const end = start + EXCERPT_CHARACTERS
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
}

function marked(text: string, words: readonly string[]): (Node | string)[] {
  const pattern = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  return text.split(new RegExp(`(${pattern})`, 'gi')).map((part, index) => {
    if (index % 2 === 0) return part
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

function createDialog() {
  const dialog = document.createElement('dialog')
  dialog.className = 'search'
  dialog.setAttribute('aria-label', 'Search the documentation')
  const field = document.createElement('input')
  field.type = 'search'
  field.placeholder = 'Search the documentation'
  field.setAttribute('aria-label', 'Search the documentation')
  field.autocomplete = 'off'
  field.spellcheck = false
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  const list = document.createElement('ol')
  dialog.append(field, status, list)
  return { dialog, field, list, status }
}
