import type { Tile } from '../../api/types.ts'
import type { Place } from './grid-layout.ts'

type Size = Pick<Place, 'width' | 'height'>
/** A tile that is edited. Its key stays the same, wherever it is. */
export type TileDraft = Tile & { key: string }
export type View = NonNullable<Tile['view']>

/** The service's limit. */
export const TILES_MAX = 20
export const VIEWS = ['chart', 'number', 'table'] as const satisfies readonly View[]

/** The size of a new tile, by what it shows. */
export const SIZES: Record<View | 'text', Size> = {
  chart: { width: 6, height: 5 },
  number: { width: 3, height: 2 },
  table: { width: 6, height: 5 },
  text: { width: 12, height: 1 },
}
