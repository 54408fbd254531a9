import { Tooltip } from '@mantine/core'
import { memo, type SyntheticEvent, useState } from 'react'
import { countryName } from '../ui/whereabouts.ts'
import { COUNTRY_PATHS, SMALL_COUNTRIES, WORLD_HEIGHT, WORLD_WIDTH } from './generated/world.ts'
import { text } from './web-text.ts'

const DOT_RADIUS = 9
/** The least part of the darkest color that a country with people has, so that it differs from one without. */
const LEAST = 0.2

interface WorldMapProps {
  /** By the country's two-letter code. */
  people: ReadonlyMap<string, number>
  onChoose: (country: string) => void
}

/** Countries, darker the more people there are. For the eye and the pointer alone: a list beside it has the same. */
export function WorldMap({ people, onChoose }: WorldMapProps) {
  const [hovered, setHovered] = useState<string | null>(null)
  return (
    <Tooltip.Floating
      label={hovered === null ? '' : text.map(countryName(hovered), people.get(hovered) ?? 0)}
      disabled={hovered === null}
    >
      <svg
        viewBox={`0 0 ${WORLD_WIDTH} ${WORLD_HEIGHT}`}
        width="100%"
        aria-hidden
        data-map
        onPointerOver={(event) => setHovered(countryAt(event))}
        onPointerLeave={() => setHovered(null)}
        onClick={(event) => {
          const country = countryAt(event)
          if (country !== null && people.has(country)) onChoose(country)
        }}
      >
        <Countries people={people} />
      </svg>
    </Tooltip.Floating>
  )
}

/** Drawn only when the figures change, not while the pointer moves. */
const Countries = memo(function Countries({ people }: Pick<WorldMapProps, 'people'>) {
  const max = Math.max(1, ...people.values())
  const shapeOf = (country: string) => ({
    'data-country': country,
    fill: colorOf((people.get(country) ?? 0) / max),
    stroke: 'var(--mantine-color-body)',
    strokeWidth: 2,
    cursor: people.has(country) ? 'pointer' : undefined,
  })
  return (
    <>
      {Object.entries(COUNTRY_PATHS).map(([country, path]) => (
        <path key={country} d={path} {...shapeOf(country)} />
      ))}
      {Object.entries(SMALL_COUNTRIES).map(([country, [x, y]]) =>
        people.has(country) ? <circle key={country} cx={x} cy={y} r={DOT_RADIUS} {...shapeOf(country)} /> : null,
      )}
    </>
  )
})

/** One hue from light to dark, which everybody can tell apart. The root spreads the many small countries. */
function colorOf(part: number): string {
  if (part === 0) return 'var(--cds-line)'
  const percent = Math.round((LEAST + (1 - LEAST) * Math.sqrt(part)) * 100)
  return `color-mix(in oklab, light-dark(var(--mantine-color-ink-8), var(--mantine-color-ink-2)) ${percent}%, var(--cds-line))`
}

function countryAt({ target }: SyntheticEvent): string | null {
  return (target as SVGElement).dataset.country ?? null
}
