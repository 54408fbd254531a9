/** The content of double braces: a name and, after a bar, a fallback for a missing value. */
const VARIABLE = /\{\{([^{}]*)\}\}/g

/** A variable of a template: `{{contact.firstname | there}}`. */
export interface Variable {
  name: string
  fallback: string | null
}

/** The variables in a text, in their order. */
export function variablesOf(text: string): Variable[] {
  return [...text.matchAll(VARIABLE)].map(([, inside = '']) => parse(inside))
}

/** The text with each variable replaced. */
export function replaceVariables(text: string, replacement: (variable: Variable) => string): string {
  return text.replace(VARIABLE, (_whole, inside: string) => replacement(parse(inside)))
}

function parse(inside: string): Variable {
  const bar = inside.indexOf('|')
  return bar < 0
    ? { name: inside.trim(), fallback: null }
    : { name: inside.slice(0, bar).trim(), fallback: inside.slice(bar + 1).trim() }
}
