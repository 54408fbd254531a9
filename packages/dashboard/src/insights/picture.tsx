import type { ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import classes from './picture.module.css'
import { saveFile } from './save-file.ts'

/** In units of the drawing; the file has twice as many pixels. */
const WIDTH = 1_200
const PADDING = 32
const SCALE = 2
const TITLE = { size: 22, weight: 650, top: 28 }
const SUBTITLE = { size: 14, weight: 400, top: 54 }
const LEGEND = { size: 13, weight: 400, row: 22, key: 26, gap: 24 }
const HEADER = 74
const FONT = 'Inter, system-ui, sans-serif'

/** A chart as it is drawn for a picture. */
export interface Drawn {
  /** An `svg`. */
  drawing: ReactNode
  height: number
  legend?: readonly { name: string; color: string; isDashed?: boolean | undefined }[]
}

export interface Picture {
  /** Without its ending. */
  fileName: string
  title: string
  subtitle: string
  /** Draws the chart with a width. */
  draw: (width: number) => Drawn | Promise<Drawn>
}

/**
 * Saves a chart as a PNG file: the same in every window and in both schemes, because it is drawn anew with a fixed width in the
 * light one. The styles become attributes, because a picture has no stylesheet.
 */
export async function savePicture({ fileName, title, subtitle, draw }: Picture): Promise<void> {
  const drawn = await draw(WIDTH - 2 * PADDING)
  const host = document.createElement('div')
  host.className = classes.host ?? ''
  host.ariaHidden = 'true'
  document.body.append(host)
  const root = createRoot(host)
  try {
    flushSync(() => root.render(<Sheet title={title} subtitle={subtitle} drawn={drawn} />))
    const svg = host.querySelector('svg')
    if (svg === null) throw new Error('A picture has a drawing.')
    saveFile(`${fileName}.png`, await pngOf(svg))
  } finally {
    root.unmount()
    host.remove()
  }
}

function Sheet({ title, subtitle, drawn }: Pick<Picture, 'title' | 'subtitle'> & { drawn: Drawn }) {
  const rows = legendRows(drawn.legend ?? [])
  const top = PADDING + HEADER + rows.length * LEGEND.row
  const height = top + drawn.height + PADDING
  const width = WIDTH - 2 * PADDING
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      aria-hidden
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
    >
      <rect className={classes.paper} width={WIDTH} height={height} />
      <Words x={PADDING} y={PADDING + TITLE.top} style={TITLE} within={width}>
        {title}
      </Words>
      <Words x={PADDING} y={PADDING + SUBTITLE.top} style={SUBTITLE} within={width} isDimmed>
        {subtitle}
      </Words>
      {rows.map((row, index) =>
        row.map(({ name, color, isDashed, x }) => {
          const y = PADDING + HEADER + index * LEGEND.row
          return (
            <g key={`${name} ${x}`}>
              <line
                x1={PADDING + x}
                x2={PADDING + x + LEGEND.key - 8}
                y1={y}
                y2={y}
                style={{ stroke: color }}
                strokeWidth={3}
                strokeDasharray={isDashed ? '5 4' : undefined}
              />
              <Words x={PADDING + x + LEGEND.key} y={y + 4} style={LEGEND} within={width - LEGEND.key}>
                {name}
              </Words>
            </g>
          )
        }),
      )}
      <g transform={`translate(${PADDING} ${top})`}>{drawn.drawing}</g>
    </svg>
  )
}

interface WordsProps {
  x: number
  y: number
  style: { size: number; weight: number }
  within: number
  isDimmed?: boolean
  children: string
}

/** A line of text, which ends in "…" where it is too long. */
function Words({ x, y, style: { size, weight }, within, isDimmed = false, children }: WordsProps) {
  let shown = children
  while (shown.length > 1 && widthOf(shown, size, weight) > within) shown = `${shown.slice(0, -2)}…`
  return (
    <text x={x} y={y} fontSize={size} fontWeight={weight} className={isDimmed ? classes.dimmed : classes.text}>
      {shown}
    </text>
  )
}

/** The entries of a legend in as many rows as they need, each with its place. */
function legendRows(legend: NonNullable<Drawn['legend']>) {
  const rows: (NonNullable<Drawn['legend']>[number] & { x: number })[][] = []
  let x = 0
  for (const entry of legend) {
    const wide = LEGEND.key + widthOf(entry.name, LEGEND.size, LEGEND.weight)
    if (rows.length === 0 || (x > 0 && x + wide > WIDTH - 2 * PADDING)) {
      rows.push([])
      x = 0
    }
    rows.at(-1)?.push({ ...entry, x })
    x += wide + LEGEND.gap
  }
  return rows
}

function widthOf(words: string, size: number, weight: number): number {
  const context = document.createElement('canvas').getContext('2d')
  if (context === null) return 0
  context.font = `${weight} ${size}px ${FONT}`
  return context.measureText(words).width
}

const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'font-size',
  'font-weight',
  'text-anchor',
]

async function pngOf(svg: SVGSVGElement): Promise<Blob> {
  const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value]
  const parts = [...svg.querySelectorAll('*')]
  // All are read before any changes: a part may have its color from the one around it.
  const styles = parts.map((part) =>
    STYLES.map((name) => [name, getComputedStyle(part).getPropertyValue(name)] as const),
  )
  for (const [index, part] of parts.entries()) {
    for (const [name, value] of styles[index] ?? []) part.setAttribute(name, value)
    part.removeAttribute('class')
    part.removeAttribute('style')
  }
  svg.setAttribute('font-family', FONT)
  // The content security policy allows pictures in data URLs, not in those of blobs.
  const image = new Image(width * SCALE, height * SCALE)
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  const { promise, resolve, reject } = Promise.withResolvers<Blob>()
  canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture is too large.'))), 'image/png')
  return promise
}
