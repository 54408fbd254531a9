import { capture } from './capture.ts'
import { attribute, describe, isUnder, labelOf } from './dom.ts'
import { guard, on } from './guard.ts'
import { MEDIA_EVENTS } from './players.ts'
import { redact } from './text.ts'
import { captureOverlay, onMedia } from './videos.ts'

const LINK = 'a[href],area[href]'
const BUTTON = 'button,summary,[role=button],[type=submit],[type=button],[type=reset],[type=image]'

/** One listener per event for the whole page, so that elements added later count too. */
export function watchInteractions(): void {
  on(window, 'click auxclick', onClick)
  // Submit and media events do not leave a shadow root, so listeners are added to it at the first input within it.
  on(window, 'pointerdown keydown', (event) => {
    for (const node of event.composedPath() as Node[]) if (node.nodeType === 11) listenWithin(node)
  })
  listenWithin(window)
}

function listenWithin(target: EventTarget): void {
  // Adding the same function twice has no effect.
  on(target, `submit conversion ${MEDIA_EVENTS}`, onInner, onInner)
}

const onInner = guard((event: Event) => {
  if (event.type === 'submit') onSubmit(event.target as Element, (event as SubmitEvent).submitter)
  else onMedia(event as CustomEvent)
})

function onClick(event: MouseEvent): void {
  const path = event.composedPath()
  // Of the other mouse buttons, only the middle one matters: it opens a link.
  const element = path.find((node) =>
    (node as Partial<Element>).matches?.(event.button ? LINK : `${LINK},${BUTTON}`),
  ) as Element
  // The browser simulates a click on a form's button if Enter is pressed in a text field.
  const { activeElement } = element.getRootNode() as Document
  const isImplicit =
    !event.detail && activeElement !== element && (element as HTMLButtonElement).form?.contains(activeElement)
  if (event.button > 1 || isUnder(path[0] as Node) || isImplicit) return
  const data = { text: labelOf(element), ...describe(element) }
  if (element.matches(LINK)) {
    const { href, host, protocol } = urlOf(element.getAttribute('href'))
    // The type of a link that opens no page is its scheme: mailto, tel, javascript.
    const link_type = host ? (host === location.host ? 'internal' : 'external') : protocol.slice(0, -1)
    capture('link_click', { ...data, href: redact(href), link_type })
  } else capture('button_click', data)
}

function urlOf(relative: string | null | undefined): URL {
  return new URL(relative ?? '', document.baseURI)
}

function onSubmit(form: Element, submitter: Element | null): void {
  if (isUnder(form)) return
  const own = (name: string) => (submitter && attribute(submitter, `form${name}`)) || attribute(form, name)
  const formId = attribute(form, 'id') || attribute(form, 'name')
  const action = redact(urlOf(own('action')).href)
  capture('form_submit', { formId, ...describe(form), action, method: (own('method') ?? 'get').toLowerCase() })
  const email = form.querySelector<HTMLInputElement>('[type=email]')?.value
  if (email) captureOverlay(form, email, formId)
}
