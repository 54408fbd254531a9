import './colors.css'

/** The number of colors of `colors.css`; further lines begin again. */
export const COLORS = 8

/** The color of the line at a place. */
export function colorOf(place: number): string {
  return `var(--insight-${(place % COLORS) + 1})`
}
