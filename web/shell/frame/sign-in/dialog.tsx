import { type FormEvent, useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { useLive } from '../../context.ts'
import { app, authPath, base } from '../../place.ts'
import { leaveForSignIn } from '../../session/session.ts'
import { keepToken, type Token } from '../../session/token.ts'
import { say } from '../../words.ts'

/** Who is signed in. */
export interface Self {
  readonly id: string
  readonly email: string
}

/** Asks who was signed in for the password again. @param onDone when the same person has signed in */
export default function SignInDialog({ self, onDone }: { readonly self: Self; onDone(): void }) {
  const live = useLive()
  const [email, setEmail] = useState(self.email)
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string | null>(null)
  async function signIn(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    const answer = await fetch(authPath('sign-in/email'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    }).catch(() => null)
    setBusy(false)
    if (answer?.ok) return goOn((await answer.json()) as Token & { readonly user?: { readonly id?: string } })
    if (answer?.status === 429) return setWrong(say('sign-in.wait', { minutes: Math.max(1, Math.ceil(Number(answer.headers.get('retry-after') ?? 60) / 60)) }))
    if (!answer || answer.status >= 500) return setWrong(say('sign-in.away'))
    setPassword('')
    setWrong(say('sign-in.wrong'))
  }
  async function goOn(token: Token): Promise<void> {
    if (app !== 'launcher') keepToken(token)
    const headers = app === 'launcher' ? {} : { authorization: `Bearer ${token.accessToken}` }
    const me = await fetch(authPath('me'), { headers }).then(
      answer => answer.json() as Promise<{ readonly user?: { readonly id?: string } }>,
      () => null,
    )
    if (me?.user?.id !== self.id) return location.assign(`${base}/`)
    onDone()
    live.renew()
  }
  return (
    <Dialog title={say('sign-in.ended')} isAlert onClose={() => leaveForSignIn({ asks: false })}>
      <p>{say('sign-in.ended-why')}</p>
      <form className="form" onSubmit={event => void signIn(event)}>
        <Field label={say('sign-in.email')} type="email" autoComplete="username" value={email} onChange={setEmail} required />
        <Field label={say('sign-in.password')} type="password" autoComplete="current-password" value={password} onChange={setPassword} wrong={wrong} required />
        <div className="actions">
          <Button kind="primary" type="submit" isDisabled={isBusy || password === ''}>
            {say('sign-in.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
