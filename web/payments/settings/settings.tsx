import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { SettingsForm } from './form.tsx'
import { PaymentSettingsPageDocument } from './settings.generated.ts'

/** How the organization takes payments. */
export default function Settings() {
  return (
    <Page title={say('settings.title')}>
      <Guard need="payments:settings.read">
        <Content />
      </Guard>
    </Page>
  )
}

function Content() {
  const { data, state, problem, retry } = useRead(PaymentSettingsPageDocument, {})
  const settings = data?.paymentSettings
  return (
    <Region state={data && !settings ? 'error' : state} problem={problem} retry={retry} lines={8}>
      {settings && <SettingsForm key={settings.version} settings={settings} reload={retry} />}
    </Region>
  )
}
