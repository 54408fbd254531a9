/*
 * Formulas such as `B / A`: figures of series, named by letter, with + - * / and parentheses.
 */

type Figure = number | null
/** Computes a formula of the series' figures, A first; null where one is missing, and for a division by 0. */
export type Formula = (figures: readonly Figure[]) => Figure

export const FORMULA_LENGTH_MAX = 200
const DEPTH_MAX = 20

/** @param series how many there are. @returns what is wrong with the text, if it is no formula of them. */
export function parseFormula(text: string, series: number): Formula | { problem: string } {
  const tokens = text.match(/\d+(?:\.\d+)?|[A-Za-z]+|\S/g) ?? []
  let at = 0
  let depth = 0

  class Wrong extends Error {}
  const expected = (what: string): never => {
    const found = tokens[at]
    throw new Wrong(found === undefined ? `ends where ${what} is expected` : `has ${found} where ${what} is expected`)
  }

  function sum(): Formula {
    let left = product()
    while (tokens[at] === '+' || tokens[at] === '-') {
      const isPlus = tokens[at++] === '+'
      left = combine(left, product(), (a, b) => (isPlus ? a + b : a - b))
    }
    return left
  }

  function product(): Formula {
    let left = factor()
    while (tokens[at] === '*' || tokens[at] === '/') {
      const isTimes = tokens[at++] === '*'
      left = combine(left, factor(), (a, b) => (isTimes ? a * b : b === 0 ? null : a / b))
    }
    return left
  }

  function factor(): Formula {
    const token = tokens[at++]
    if (token !== undefined && /^\d/.test(token)) return () => Number(token)
    if (token !== undefined && /^[A-Za-z]$/.test(token)) {
      const index = token.toUpperCase().charCodeAt(0) - 65
      if (index < series) return (figures) => figures[index] ?? null
    }
    if (token === '-' || token === '(') {
      if (++depth > DEPTH_MAX) throw new Wrong('is nested too deeply')
      const inner = token === '-' ? factor() : sum()
      depth--
      if (token === '-') return (figures) => negated(inner(figures))
      if (tokens[at++] === ')') return inner
    }
    at--
    const letters = series === 1 ? 'A' : `a letter from A to ${String.fromCharCode(64 + series)}`
    return expected(token === undefined || token !== ')' ? `${letters}, a number or (` : letters)
  }

  try {
    const formula = sum()
    if (at < tokens.length) expected('+, -, * or /')
    return formula
  } catch (error) {
    if (error instanceof Wrong) return { problem: error.message }
    throw error
  }
}

function negated(figure: Figure): Figure {
  return figure === null ? null : 0 - figure
}

function combine(left: Formula, right: Formula, calculate: (a: number, b: number) => Figure): Formula {
  return (figures) => {
    const [a, b] = [left(figures), right(figures)]
    const result = a === null || b === null ? null : calculate(a, b)
    // Digits after the 15th are errors of the calculation.
    return result === null || !Number.isFinite(result) ? null : Number(result.toPrecision(15))
  }
}
