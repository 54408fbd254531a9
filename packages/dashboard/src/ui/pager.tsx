import { ActionIcon, Group, NativeSelect, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import classes from './data-table.module.css'
import { text } from './text.ts'

export interface Paging {
  page: number
  limit: number
  total: number
  onPage: (page: number) => void
  /** Given if the number of rows per page can be chosen. */
  onLimit?: (limit: number) => void
}

/** The range of rows and their total, with links to the other pages. */
export function Pager({ page, limit, total, onPage, onLimit, label }: Paging & { label: string }) {
  const pages = Math.max(1, Math.ceil(total / limit))
  const first = Math.min((page - 1) * limit + 1, total)
  const router = useRouter()
  // The page is in the address; the next one starts to load when its button is hovered or focused.
  const near = (next: number) => ({
    onPointerEnter: () => prefetch(next),
    onFocus: () => prefetch(next),
  })
  const prefetch = (next: number) => {
    if (next < 1 || next > pages) return
    void router.preloadRoute({ to: '.', search: ((before: object) => ({ ...before, page: next })) as never })
  }
  const last = Math.min(page * limit, total)
  return (
    <Group className={classes.pager} component="nav" aria-label={text.pager.label(label)} px="md" py={8} gap="sm">
      <Text size="sm" c="dimmed" role="status" flex={1}>
        {page > pages ? text.pager.pastEnd(page, total) : text.pager.range(first, last, total)}
      </Text>
      {onLimit ? (
        <NativeSelect
          size="xs"
          aria-label={text.pager.rows}
          value={String(limit)}
          data={['20', '50', '100']}
          onChange={(event) => onLimit(Number(event.currentTarget.value))}
        />
      ) : null}
      <Group gap={4}>
        <ActionIcon
          variant="default"
          aria-label={text.pager.previous}
          disabled={page <= 1}
          {...near(page - 1)}
          onClick={() => onPage(Math.min(page - 1, pages))}
        >
          <IconChevronLeft size={16} aria-hidden />
        </ActionIcon>
        <ActionIcon
          variant="default"
          aria-label={text.pager.next}
          disabled={page >= pages}
          {...near(page + 1)}
          onClick={() => onPage(page + 1)}
        >
          <IconChevronRight size={16} aria-hidden />
        </ActionIcon>
      </Group>
    </Group>
  )
}
