import { qrCode } from './qr-code.ts'

const QUIET_ZONE = 4

/** A QR code, drawn locally, because its content is secret. Nothing if the text is too long. */
export function QrImage({ text, label, size = 208 }: { text: string; label: string; size?: number }) {
  const rows = qrCode(text)
  if (!rows) return null
  const width = rows.length + 2 * QUIET_ZONE
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x},${y}h1v1h-1z`] : []))).join('')
  return (
    // Dark on white in both color schemes, because many readers support nothing else.
    <svg
      role="img"
      aria-label={label}
      width={size}
      height={size}
      viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${width} ${width}`}
      shapeRendering="crispEdges"
    >
      <rect x={-QUIET_ZONE} y={-QUIET_ZONE} width={width} height={width} rx={2} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
