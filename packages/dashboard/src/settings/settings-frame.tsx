import { Box, Text } from '@mantine/core'
import { useViewportSize } from '@mantine/hooks'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { Fragment, useEffect, useRef } from 'react'
import { useMe } from '../session/may.ts'
import { settingsGroupsFor } from './pages.ts'
import classes from './settings-frame.module.css'
import { text } from './text.ts'

/** The frame of the settings: their navigation at the side, or as a row on small screens. */
export function SettingsFrame() {
  const { role } = useMe()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const { width } = useViewportSize()
  const navigation = useRef<HTMLElement>(null)
  useEffect(() => {
    if (path === '' || width === 0) return
    // If the row is wider than the screen, scrolls to the current link.
    const row = navigation.current
    const current = row?.querySelector<HTMLElement>('[aria-current="page"]')
    if (row && current) row.scrollLeft = current.offsetLeft - row.offsetLeft - 24
  }, [path, width])
  return (
    <Box className={classes.frame}>
      <nav className={classes.navigation} aria-label={text.navigation} ref={navigation}>
        {settingsGroupsFor(role).map(({ label: group, pages }) => (
          <Fragment key={group}>
            {group === null ? null : <Text className={classes.group}>{group}</Text>}
            {pages.map(({ label, link }) => (
              <Link key={label} className={classes.link} activeOptions={{ includeSearch: false }} {...link}>
                {label}
              </Link>
            ))}
          </Fragment>
        ))}
      </nav>
      <div className={classes.page}>
        <Outlet />
      </div>
    </Box>
  )
}
