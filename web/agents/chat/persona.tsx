import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { type ChatSiteFieldsFragment, UpdateChatSiteDocument } from './chat.generated.ts'

/** Who answers visitors. */
export type Persona = NonNullable<ChatSiteFieldsFragment['personas']>[number]

/** Personas as an input takes them. */
export const personasOf = (personas: readonly Persona[]) =>
  personas.map(({ slug, name, greeting, instructions, model, default: isDefault }) => ({
    ...{ slug, name, greeting, instructions, model: model ?? null, default: isDefault },
  }))

/** The slug that a name would have. */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)

/** Writes who answers visitors. @param slug of the persona that is changed; null adds one */
export function PersonaForm({ site, slug, onClose }: { readonly site: ChatSiteFieldsFragment; readonly slug: string | null; onClose(): void }) {
  const others = (site.personas ?? []).filter(each => each.slug !== slug)
  const before = site.personas?.find(each => each.slug === slug)
  const [{ error, fetching }, update] = useMutation(UpdateChatSiteDocument)
  const [name, setName] = useState(before?.name ?? '')
  const [address, setAddress] = useState<string | null>(before?.slug ?? null)
  const [greeting, setGreeting] = useState(before?.greeting ?? '')
  const [instructions, setInstructions] = useState(before?.instructions ?? '')
  const [model, setModel] = useState(before?.model ?? '')
  const [isDefault, setDefault] = useState(before?.default ?? others.length === 0)
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const shown = address ?? slugOf(name)
  const at = before ? site.personas!.indexOf(before) : others.length
  const wrong = (field: string, value = '-') =>
    problem?.field === `personas[${at}].${field}` ? problem.sentence : isTried && value.trim() === '' ? say('form.required') : null
  const fields = ['slug', 'name', 'greeting', 'instructions', 'model'].map(each => `personas[${at}].${each}`)
  async function save() {
    setTried(true)
    if (name.trim() === '' || shown.trim() === '' || greeting.trim() === '') return
    const own = {
      slug: shown,
      name: name.trim(),
      greeting: greeting.trim(),
      instructions: instructions.trim(),
      model: model.trim() || null,
      default: isDefault,
    }
    const rest = personasOf(others).map(each => ({ ...each, default: each.default && !isDefault }))
    // It keeps its place: the graph names what is wrong by it.
    const { data } = await update({ input: { personas: rest.toSpliced(at, 0, own), expectedVersion: site.version } })
    if (!data?.updateChatSite) return
    toast({ sentence: say('chat.saved') })
    onClose()
  }
  return (
    <FormDialog
      title={say(before ? 'chat.change' : 'chat.add')}
      verb={say(before ? 'action.save' : 'chat.add')}
      isBusy={fetching}
      problem={problem}
      fields={fields}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('chat.name')} value={name} onChange={setName} wrong={wrong('name', name)} />
      <Field label={say('chat.address')} value={shown} onChange={setAddress} hint={say('chat.address-hint')} wrong={wrong('slug', shown)} />
      <Field label={say('chat.greeting')} rows={2} value={greeting} onChange={setGreeting} wrong={wrong('greeting', greeting)} />
      <Field
        label={say('agents.instructions')}
        rows={5}
        value={instructions}
        onChange={setInstructions}
        hint={say('agents.instructions-hint')}
        wrong={wrong('instructions')}
      />
      <Field label={say('agents.model')} value={model} onChange={setModel} hint={say('chat.model-hint')} wrong={wrong('model')} />
      <div className="choices">
        <label>
          <input type="checkbox" checked={isDefault} disabled={before?.default || others.length === 0} onChange={({ target }) => setDefault(target.checked)} />
          {say('chat.default-choice')}
        </label>
      </div>
    </FormDialog>
  )
}
