import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { AddDomainDocument, CreateIdentityDocument, type DomainCardFragment } from './senders.generated.ts'

/** Adds a domain of the organization; its records come back and wait to be set. */
export function AddDomain({ reload, onClose }: { reload(): void; onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, add] = useMutation(AddDomainDocument)
  const [domain, setDomain] = useState('')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  async function save() {
    setTried(true)
    if (domain.trim() === '') return
    const { data } = await add({ input: { domain: domain.trim(), idempotencyKey: once } })
    if (!data?.addSenderDomain) return
    toast({ sentence: say('senders.domain-added', { domain: data.addSenderDomain.domain }) })
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say('senders.add-domain')}
      verb={say('senders.add-domain')}
      isBusy={fetching}
      problem={problem}
      fields={['domain']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('senders.domain')}
        value={domain}
        onChange={setDomain}
        hint={say('senders.domain-hint')}
        wrong={problem?.field === 'domain' ? problem.sentence : isTried && domain.trim() === '' ? say('form.required') : null}
      />
    </FormDialog>
  )
}

/** Makes an address of a verified domain from which mail goes out. */
export function AddIdentity({ domains, reload, onClose }: { readonly domains: readonly DomainCardFragment[]; reload(): void; onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, create] = useMutation(CreateIdentityDocument)
  const [domainId, setDomainId] = useState(domains[0]!.id)
  const [localPart, setLocalPart] = useState('')
  const [displayName, setDisplayName] = useState('')
  const [replyTo, setReplyTo] = useState('')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  async function save() {
    setTried(true)
    if (localPart.trim() === '') return
    const input = {
      domainId,
      localPart: localPart.trim(),
      ...(displayName.trim() && { displayName: displayName.trim() }),
      ...(replyTo.trim() && { replyTo: replyTo.trim() }),
      idempotencyKey: once,
    }
    const { data } = await create({ input })
    if (!data?.createSenderIdentity) return
    toast({ sentence: say('senders.identity-added', { address: data.createSenderIdentity.address }) })
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say('senders.add-identity')}
      verb={say('senders.add-identity')}
      isBusy={fetching}
      problem={problem}
      fields={['localPart', 'replyTo']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('senders.local-part')}
        value={localPart}
        onChange={setLocalPart}
        wrong={problem?.field === 'localPart' ? problem.sentence : isTried && localPart.trim() === '' ? say('form.required') : null}
      />
      <Select label={say('senders.domain')} value={domainId} onChange={setDomainId} choices={domains.map(({ id, domain }) => ({ id, name: `@${domain}` }))} />
      <Field label={say('senders.display-name')} value={displayName} onChange={setDisplayName} />
      <Field
        label={say('senders.reply-to')}
        type="email"
        value={replyTo}
        onChange={setReplyTo}
        wrong={problem?.field === 'replyTo' ? problem.sentence : null}
      />
    </FormDialog>
  )
}
