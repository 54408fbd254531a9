import { useRouter } from '@tanstack/react-router'
import { showOverlay } from '../ui/overlay.ts'
import { useShortcuts } from '../ui/shortcuts.ts'
import { MAIN_PAGES } from './navigation.ts'
import { text } from './text.ts'

/** The shortcuts of every page. */
export function useFrameShortcuts(): void {
  const router = useRouter()
  const { shortcuts: label } = text
  useShortcuts(label.everywhere, [
    // Handled apart, because it works in fields too.
    { keys: 'Ctrl+K', label: label.palette },
    { keys: '/', label: label.search, run: focusSearch },
    { keys: '?', label: label.help, run: () => showOverlay('shortcuts') },
    ...MAIN_PAGES.map((item) => ({
      keys: `g ${item.key}`,
      label: label.goTo(item.label),
      run: () => void router.navigate(item.link),
    })),
  ])
}

/** Focuses the search field of the page; without one, searches everything. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#main input[type="search"]')
  if (!field) showOverlay('palette')
  field?.focus()
  field?.select()
}
