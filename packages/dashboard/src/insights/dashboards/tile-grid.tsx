import type { CSSProperties, ReactNode, Ref } from 'react'
import type { Tile } from '../../api/types.ts'
import { arranged, inReadingOrder, type Place } from './grid-layout.ts'
import { text } from './text.ts'
import classes from './tile-grid.module.css'

type PlacedTile = Place & Pick<Tile, 'text' | 'view'> & { key: string }

interface TileGridProps<Item> {
  tiles: readonly Item[]
  children: (tile: Item, index: number) => ReactNode
}

/** Tiles on a grid of 12 columns, in the order in which people read them; one below the other where the page is narrow. */
export function TileGrid<Item extends PlacedTile>({ tiles, children }: TileGridProps<Item>) {
  return <PlacedTiles tiles={inReadingOrder(arranged(tiles))}>{children}</PlacedTiles>
}

/** The same for tiles that move: an element that changed its place in the page would lose the focus. */
export function PlacedTiles<Item extends PlacedTile>({
  tiles,
  children,
  ref,
}: TileGridProps<Item> & { ref?: Ref<HTMLUListElement> }) {
  const order = inReadingOrder(tiles)
  return (
    <div className={classes.frame}>
      <ul ref={ref} className={classes.grid} aria-label={text.page.grid}>
        {tiles.map((tile, index) => (
          <li
            key={tile.key}
            className={classes.tile}
            data-kind={tile.text === undefined ? (tile.view ?? 'chart') : 'text'}
            style={styleOf(tile, order.indexOf(tile))}
          >
            {children(tile, index)}
          </li>
        ))}
      </ul>
    </div>
  )
}

function styleOf({ x, y, width, height }: Place, order: number): CSSProperties {
  return { '--x': x + 1, '--y': y + 1, '--width': width, '--height': height, '--order': order } as CSSProperties
}
