import { type FormEvent, useEffect, useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { authPath } from '../../shell/place.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'

interface Recovery {
  readonly email: string | null
  readonly status: 'none' | 'pending' | 'verified'
}

const path = authPath('me/recovery-email')

const read = async (): Promise<Recovery | null> => {
  const answer = await fetch(path).catch(() => null)
  return answer?.ok ? ((await answer.json()) as Recovery) : null
}

/** Asks for the recovery address, and says that the link in its mail is to be opened. There is no way past it. */
export function RecoveryForm({ onVerified }: { onVerified(): void }) {
  const [sentTo, setSentTo] = useState<string | null>(null)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [asksPassword, setAsksPassword] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string | null>(null)
  useEffect(() => {
    void read().then(recovery => recovery?.status === 'pending' && setSentTo(recovery.email))
  }, [])

  async function send(to: string): Promise<void> {
    setBusy(true)
    setWrong(null)
    const body = JSON.stringify({ email: to, ...(password !== '' && { currentPassword: password }) })
    const answer = await fetch(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body }).catch(() => null)
    setBusy(false)
    if (answer?.ok) return setSentTo(to)
    const problem = (await answer?.json().catch(() => null)) as { readonly detail?: string; readonly reason?: string } | null
    if (problem?.reason === 'REAUTHENTICATE') return setAsksPassword(true)
    setWrong(problem?.detail ?? say('problem.network'))
  }

  async function look(): Promise<void> {
    setBusy(true)
    const recovery = await read()
    setBusy(false)
    if (recovery?.status === 'verified') return onVerified()
    setWrong(say(recovery ? 'onboarding.not-yet' : 'problem.network'))
  }

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (email.trim() !== '') void send(email.trim())
  }
  if (sentTo !== null && !asksPassword)
    return (
      <div className="form">
        <p>{say('onboarding.sent', { email: sentTo })}</p>
        {wrong && <Failure sentence={wrong} />}
        <div className="actions">
          <Button kind="primary" isDisabled={isBusy} onPress={() => void look()}>
            {say('onboarding.verified')}
          </Button>
          <Button isDisabled={isBusy} onPress={() => void send(sentTo)}>
            {say('onboarding.send-again')}
          </Button>
          <Button kind="quiet" onPress={() => setSentTo(null)}>
            {say('onboarding.other')}
          </Button>
        </div>
      </div>
    )
  return (
    <form className="form" onSubmit={submit}>
      <p>{say('onboarding.why')}</p>
      <Field label={say('onboarding.email')} type="email" autoComplete="email" value={email} onChange={setEmail} required />
      {asksPassword && (
        <Field label={say('onboarding.password')} type="password" autoComplete="current-password" value={password} onChange={setPassword} required />
      )}
      {wrong && <Failure sentence={wrong} />}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={isBusy || email.trim() === ''}>
          {say('onboarding.send')}
        </Button>
      </div>
    </form>
  )
}
