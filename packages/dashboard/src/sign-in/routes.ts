import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../session/lazy-page.ts'
import { rootRoute } from '../session/root-routes.ts'
import { oneOf, searchParams, text } from '../session/search-params.ts'
import { invitationQuery, meQuery, signInOptionsQuery } from '../session/session.ts'

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  // After a sign-in at the provider, the service redirects here for the code.
  validateSearch: searchParams({ redirect: text, step: oneOf('code') }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(signInOptionsQuery),
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

const setup = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyPage(() => import('./setup-page.tsx'), 'SetupPage'),
})

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation/$token',
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(invitationQuery(params.token)),
  component: lazyPage(() => import('./invitation-page.tsx'), 'InvitationPage'),
})

const resetPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  validateSearch: searchParams({ token: text }),
  component: lazyPage(() => import('./reset-password-page.tsx'), 'ResetPasswordPage'),
})

const chooseTenant = createRoute({
  getParentRoute: () => rootRoute,
  path: '/choose-tenant',
  loader: ({ context }) => void context.queryClient.prefetchQuery(meQuery),
  component: lazyPage(() => import('./choose-tenant-page.tsx'), 'ChooseTenantPage'),
})

export const signInRoutes = [signIn, setup, invitation, resetPassword, chooseTenant] as const
