import { mapPseudonyms } from '../mcp/redaction/pseudonyms.ts'
import { contactOfPseudonym } from '../mcp/redaction/redactor.ts'

const NAMES = /\[([^\]]*)\]\((\/contacts\/[0-9a-f-]{36})\) \[([^\]]*)\]\(\2\)/g

/** The Markdown of an answer with the real values in place of pseudonyms; those of contacts lead to the contact. */
export function restoreAnswer(answer: string, issued: ReadonlyMap<string, string>): string {
  const restored = mapPseudonyms(withoutLinks(answer), (pseudonym) => {
    const value = issued.get(pseudonym)
    if (value === undefined) return pseudonym
    const contact = contactOfPseudonym(pseudonym)
    return contact === null ? escaped(value) : `[${escaped(value)}](/contacts/${contact})`
  })
  // A first and a last name are one link.
  return restored.replace(NAMES, '[$1 $3]($2)')
}

/** A value as text in Markdown: a contact's name must not become a link or an image. */
function escaped(value: string): string {
  return value.replace(/[\\`*_{}[\]()<>#+!|~-]/g, '\\$&').replace(/\s+/g, ' ')
}

/** Browsers and Markdown make links of these by themselves. */
const BARE_URL = /(?:[a-z][a-z0-9+.-]*:\/\/|mailto:|www\.)\S*/gi
/** What begins a target after a link's text: `](`, `][` and `]:`. */
const LINK = /\](?=[([:])/g
/** What begins a tag, or a target in brackets. */
const TAG = /<(?=[a-z!?/])/gi

/**
 * Markdown of a model without links and images. A text that a stranger wrote can make a model write one, and the values
 * that later replace its pseudonyms would then go to the stranger's server. Pseudonyms within URLs are removed.
 */
function withoutLinks(markdown: string): string {
  return markdown
    .replace(LINK, '] ')
    .replace(TAG, '&lt;')
    .replace(BARE_URL, (url) => mapPseudonyms(url, () => '…'))
}
