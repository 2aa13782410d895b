import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { leaveForSignIn, onSignedOut } from '../../session/session.ts'
import type { Self } from './dialog.tsx'

const SignInDialog = lazy(() => import('./dialog.tsx'))

/**
 * Asks for sign-in over the page when the session has ended elsewhere: what was typed and read stays. Whoever signs in as another person begins
 * at the app's start.
 */
export function SignInAgain({ self }: { readonly self: Self | null }) {
  const [isAsked, setAsked] = useState(false)
  const known = useRef(self)
  known.current = self ?? known.current
  // Before it is known who was signed in there is no page to keep.
  useEffect(() => onSignedOut(() => (known.current ? setAsked(true) : leaveForSignIn({ asks: false }))), [])
  if (!isAsked || !known.current) return null
  return (
    <Suspense>
      <SignInDialog self={known.current} onDone={() => setAsked(false)} />
    </Suspense>
  )
}
