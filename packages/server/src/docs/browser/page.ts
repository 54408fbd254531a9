/** What the pages do besides showing text: navigation on a phone, colors, copying, and code in tabs. */
export function setUpPage(): void {
  setUpMenu()
  setUpScheme()
  for (const tabs of document.querySelectorAll<HTMLElement>('.tabs')) setUpTabs(tabs)
  for (const block of document.querySelectorAll<HTMLElement>('div.code')) addCopyButton(block)
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a.anchor')) {
    link.addEventListener('click', () => void copy(link.href, link, '✓'))
  }
}

function setUpMenu(): void {
  const menu = document.getElementById('menu')
  const contents = document.getElementById('contents')
  if (!menu || !contents) return
  menu.hidden = false
  const set = (isOpen: boolean) => {
    menu.setAttribute('aria-expanded', String(isOpen))
    contents.dataset.open = String(isOpen)
  }
  set(false)
  menu.addEventListener('click', () => set(menu.getAttribute('aria-expanded') !== 'true'))
  addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || menu.getAttribute('aria-expanded') !== 'true') return
    set(false)
    menu.focus()
  })
  document.getElementById('main')?.addEventListener('focusin', () => set(false))
  contents.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  scrollTo(0, location.hash === '' ? 0 : scrollY)
}

function setUpScheme(): void {
  const button = document.getElementById('scheme')
  if (!button) return
  const root = document.documentElement
  const isDark = () => root.getAttribute('data-mantine-color-scheme') === 'dark'
  const label = () => button.setAttribute('aria-label', isDark() ? 'Use light colors' : 'Use dark colors')
  label()
  new MutationObserver(label).observe(root, { attributeFilter: ['data-mantine-color-scheme'] })
  button.hidden = false
  button.addEventListener('click', () => {
    const scheme = isDark() ? 'light' : 'dark'
    root.setAttribute('data-mantine-color-scheme', scheme)
    try {
      localStorage.setItem('mantine-color-scheme-value', scheme)
    } catch {
      // Storage is blocked: the choice lasts for this page.
    }
  })
}

const LANGUAGE = 'docs-language'

/** Shows one block at a time. The language that a reader chooses is chosen everywhere. */
function setUpTabs(tabs: HTMLElement): void {
  const blocks = [...tabs.querySelectorAll<HTMLElement>('div.code')]
  const names = blocks.map((block) => block.dataset.language ?? '')
  const list = document.createElement('div')
  list.className = 'tab-list'
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const buttons = names.map((name, index) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = name
    button.setAttribute('role', 'tab')
    const block = blocks[index]
    if (block) {
      block.id = `code-${crypto.getRandomValues(new Uint32Array(1))[0]}`
      block.setAttribute('role', 'tabpanel')
      block.setAttribute('aria-label', name)
      button.setAttribute('aria-controls', block.id)
    }
    list.append(button)
    return button
  })
  const choose = (name: string | undefined) => {
    const chosen = Math.max(names.indexOf(name ?? ''), 0)
    for (const [index, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(index === chosen))
      button.tabIndex = index === chosen ? 0 : -1
      blocks[index]?.toggleAttribute('hidden', index !== chosen)
    }
    return buttons[chosen]
  }
  const chooseEverywhere = (name: string | undefined) => {
    document.dispatchEvent(new CustomEvent(LANGUAGE, { detail: name }))
    try {
      localStorage.setItem(LANGUAGE, name ?? '')
    } catch {
      // Storage is blocked: the choice lasts for this page.
    }
  }
  document.addEventListener(LANGUAGE, (event) => {
    const name = (event as CustomEvent<string>).detail
    if (names.includes(name)) choose(name)
  })
  list.addEventListener('click', ({ target }) => {
    const index = buttons.indexOf(target as HTMLButtonElement)
    if (index >= 0) chooseEverywhere(names[index])
  })
  list.addEventListener('keydown', ({ key, target }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
    const next = buttons.indexOf(target as HTMLButtonElement) + step
    if (step === 0 || !buttons[next]) return
    chooseEverywhere(names[next])
    buttons[next].focus()
  })
  tabs.prepend(list)
  choose(readLanguage())
}

function readLanguage(): string | undefined {
  try {
    return localStorage.getItem(LANGUAGE) ?? undefined
  } catch {
    return undefined
  }
}

function addCopyButton(block: HTMLElement): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => void copy(block.querySelector('code')?.textContent ?? '', button, 'Copied'))
  block.append(button)
}

const SHOWN_MS = 1_500

async function copy(text: string, shownOn: HTMLElement, done: string): Promise<void> {
  const before = shownOn.textContent
  if (before === done) return
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without permission, or over plain HTTP, the reader copies it by hand.
    return
  }
  shownOn.textContent = done
  setTimeout(() => {
    shownOn.textContent = before
  }, SHOWN_MS)
}
