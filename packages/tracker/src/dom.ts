import { cut } from './text.ts'

const IGNORE = 'data-service-ignore'
/** Enough for 200 characters after white space is collapsed. */
const CHARACTERS_MAX = 1_000

/** Whether an element or one around it has an attribute, by default the one that excludes it; through shadow roots too. */
export function isUnder(element: Node, name = IGNORE): boolean | undefined {
  for (let node: Node | null | undefined = element; node; node = node.parentNode ?? (node as ShadowRoot).host) {
    if ((node as Partial<Element>).hasAttribute?.(name)) return true
  }
}

/** Reads the attribute, not the property, because a form's fields hide properties: `<input name="id">` hides `form.id`. */
export function attribute(element: Element, name: string): string | undefined {
  return cut(element.getAttribute(name)) || undefined
}

export function describe(element: Element): Record<string, unknown> {
  return { class: attribute(element, 'class'), id: attribute(element, 'id') }
}

/** The visible label of an element, without typed text and ignored parts. */
export function labelOf(element: Element): string | undefined {
  const isInput = element.localName === 'input'
  return (
    attribute(element, 'aria-label') ||
    (isInput ? attribute(element, 'value') : cut(textOf(element))) ||
    attribute(element, 'title')
  )
}

/** Not textContent, which includes ignored parts; not innerText, which causes a layout. */
function textOf(node: Node): string {
  if (node.nodeType === 3) return (node as Text).data.slice(0, CHARACTERS_MAX)
  const { localName } = node as Element
  if ((node as Partial<Element>).hasAttribute?.(IGNORE) || /^(script|style|textarea|select)$/.test(localName)) return ''
  if (localName === 'img') return ` ${attribute(node as Element, 'alt') ?? ''} `
  let text = ''
  const isSlot = node.nodeName === 'SLOT'
  for (const child of isSlot ? (node as HTMLSlotElement).assignedNodes({ flatten: true }) : node.childNodes) {
    if (text.length < CHARACTERS_MAX) text += textOf(child)
  }
  return text
}
