import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { ownZone } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { CreateMerchantDocument, CreateVenueDocument, type MerchantDetailsFragment, UpdateMerchantDocument } from './merchants.generated.ts'

const names = ['name', 'legalName', 'country', 'defaultCurrency', 'taxId', 'supportEmail'] as const

/** Makes a merchant, or changes one. @param merchant null makes a new one */
export function MerchantForm({ merchant, reload, onClose }: { readonly merchant: MerchantDetailsFragment | null; reload?(): void; onClose(): void }) {
  const once = useOnce()
  const [created, create] = useMutation(CreateMerchantDocument)
  const [updated, update] = useMutation(UpdateMerchantDocument)
  const [values, setValues] = useState<Readonly<Record<(typeof names)[number], string>>>({
    name: merchant?.name ?? '',
    legalName: merchant?.legalName ?? '',
    country: merchant?.country ?? '',
    defaultCurrency: merchant?.defaultCurrency ?? 'EUR',
    taxId: merchant?.taxId ?? '',
    supportEmail: merchant?.supportEmail ?? '',
  })
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  async function save() {
    setTried(true)
    if (values.name.trim() === '') return
    const fields = {
      name: values.name.trim(),
      legalName: values.legalName.trim() || null,
      country: values.country.trim().toUpperCase() || null,
      defaultCurrency: values.defaultCurrency.trim().toUpperCase(),
      taxId: values.taxId.trim() || null,
      supportEmail: values.supportEmail.trim() || null,
      idempotencyKey: once,
    }
    if (merchant) {
      const { data } = await update({ input: { ...fields, id: merchant.id, expectedVersion: merchant.version } })
      if (!data?.updateMerchant) return
      toast({ sentence: say('merchants.changed', { name: data.updateMerchant.name }) })
      return onClose()
    }
    const { data } = await create({ input: fields })
    if (!data?.createMerchant) return
    toast({ sentence: say('merchants.made', { name: data.createMerchant.name }) })
    reload?.()
    onClose()
    goTo(`/merchants/${data.createMerchant.id}`)
  }
  const verb = say(merchant ? 'action.save' : 'merchants.create')
  return (
    <FormDialog
      title={say(merchant ? 'merchants.change' : 'merchants.create')}
      verb={verb}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={names}
      onDo={() => void save()}
      onClose={onClose}
    >
      {names.map(each => (
        <Field
          key={each}
          label={say(`merchant-field.${each}`)}
          value={values[each]}
          onChange={value => setValues({ ...values, [each]: value })}
          wrong={problem?.field === each ? problem.sentence : each === 'name' && isTried && values.name.trim() === '' ? say('form.required') : null}
        />
      ))}
    </FormDialog>
  )
}

/** Adds a place at which a merchant sells. */
export function VenueForm({ merchantId, reload, onClose }: { readonly merchantId: string; reload(): void; onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, create] = useMutation(CreateVenueDocument)
  const [name, setName] = useState('')
  const [city, setCity] = useState('')
  const [timeZone, setTimeZone] = useState(ownZone)
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  async function save() {
    setTried(true)
    if (name.trim() === '') return
    const input = { merchantId, name: name.trim(), timeZone, ...(city.trim() && { address: { city: city.trim() } }), idempotencyKey: once }
    const { data } = await create({ input })
    if (!data?.createVenue) return
    toast({ sentence: say('venues.made', { name: data.createVenue.name }) })
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say('venues.create')}
      verb={say('venues.create')}
      isBusy={fetching}
      problem={problem}
      fields={['name', 'timeZone']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('venues.name')}
        value={name}
        onChange={setName}
        wrong={problem?.field === 'name' ? problem.sentence : isTried && name.trim() === '' ? say('form.required') : null}
      />
      <Field label={say('venues.city')} value={city} onChange={setCity} />
      <Field
        label={say('venues.zone')}
        value={timeZone}
        onChange={setTimeZone}
        hint="Europe/Berlin"
        wrong={problem?.field === 'timeZone' ? problem.sentence : null}
      />
    </FormDialog>
  )
}
