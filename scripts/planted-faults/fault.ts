/** A fault that a developer could make. The tests named here must fail with it. */
export interface Fault {
  name: string
  /** The rule that it breaks. */
  area: string
  file: string
  /** A text of the file, which has it exactly once. */
  find: string
  replace: string
  /** The cheapest test files that fail. */
  tests: readonly string[]
  /** A part of the titles of tests, where the others of the file take long. */
  only?: string
}
