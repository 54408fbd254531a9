import { attempt, later } from './guard.ts'
import { hex } from './ids.ts'

/** Pause between the steps, so that the page is not blocked. */
const SLICE_MS = 30
/** WebGL constants. */
const RENDERER = 7937
const MAX_TEXTURE_SIZE = 3379
const UNMASKED_RENDERER = 37_446
type Graphics = CanvasRenderingContext2D | WebGLRenderingContext | null

/**
 * The SHA-256 of what the device draws, computes and reports about itself. Works in slices while the page idles. Rejected
 * without HTTPS, where browsers have no SHA-256.
 */
export async function fingerprint(): Promise<string> {
  const parts: unknown[] = []
  for (const read of [system, drawing, graphics, audio]) {
    await new Promise((resolve) => later(resolve as () => void, SLICE_MS))
    try {
      parts.push(await read())
    } catch {
      // The browser or the page denies it.
    }
  }
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${parts}`))
  return [...new Uint8Array(bytes)].map((byte) => hex(byte, 2)).join('')
}

/** Properties that survive updates of the browser, zooming and moving the window. */
function system(): unknown[] {
  return [
    navigator.language,
    navigator.platform,
    navigator.hardwareConcurrency,
    navigator.maxTouchPoints,
    (navigator as Navigator & { deviceMemory?: number }).deviceMemory,
    screen.width,
    screen.height,
    timezone(),
  ]
}

export function timezone(): string | undefined {
  return attempt(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
}

function contextOf(kind: string): Graphics {
  const canvas = document.createElement('canvas')
  // Without a graphics processor, WebGL is slow, reveals little and logs warnings in the console.
  return canvas.getContext(kind, { failIfMajorPerformanceCaveat: true }) as Graphics
}

function drawing(): string {
  const context = contextOf('2d') as CanvasRenderingContext2D
  context.font = '18px Arial'
  context.fillText('Qjy\u{1f603}', 2, 22)
  return context.canvas.toDataURL()
}

function graphics(): unknown[] {
  const context = contextOf('webgl') as WebGLRenderingContext
  const names = [RENDERER, MAX_TEXTURE_SIZE]
  // Only if the name is masked: Firefox reveals it without the extension, which would log a warning in the console.
  if (/WebKit/.test(context.getParameter(RENDERER)) && context.getExtension('WEBGL_debug_renderer_info')) {
    names.push(UNMASKED_RENDERER)
  }
  return names.map((name) => context.getParameter(name))
}

async function audio(): Promise<number> {
  const context = new OfflineAudioContext(1, 5000, 44_100)
  const oscillator = context.createOscillator()
  const compressor = context.createDynamicsCompressor()
  oscillator.type = 'triangle'
  oscillator.connect(compressor)
  compressor.connect(context.destination)
  oscillator.start()
  const buffer = await context.startRendering()
  return buffer.getChannelData(0).reduce((sum, sample) => sum + Math.abs(sample), 0)
}
