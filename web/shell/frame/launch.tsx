import { ExternalLink } from 'lucide-react'
import { type ReactNode, useCallback, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { problemOf } from '../data/problems.ts'
import { say } from '../words.ts'
import { HandoffDocument } from './frame.generated.ts'

/**
 * Opens another service. The code is made first, then the tab, with its finished address: nobody sees an empty one. Where the browser
 * opens no tab, a dialog has the link; where the platform refuses, it says why.
 */
export function useLaunch(): { launch(service: string, returnTo?: string): Promise<void>; readonly refusal: ReactNode } {
  const [, createHandoff] = useMutation(HandoffDocument)
  const [told, setTold] = useState<{ readonly sentence: string; readonly url: string | null } | null>(null)
  const launch = useCallback(
    async (service: string, returnTo?: string) => {
      const { data, error } = await createHandoff({ input: { service, ...(returnTo !== undefined && { returnTo }) } })
      const url = data?.createHandoff?.callbackUrl
      if (!url) return setTold({ sentence: problemOf(error)?.sentence ?? say('launch.refused'), url: null })
      if (!window.open(url, '_blank')) setTold({ sentence: say('launch.blocked'), url })
    },
    [createHandoff],
  )
  return { launch, refusal: told && <LaunchRefusal told={told} onClose={() => setTold(null)} /> }
}

/** Says why no tab opened; where the browser alone was against it, it has the link. */
export function LaunchRefusal({ told, onClose }: { readonly told: { readonly sentence: string; readonly url: string | null }; onClose(): void }) {
  return (
    <Dialog title={say(told.url ? 'launch.ready' : 'launch.title')} isAlert={told.url === null} onClose={onClose}>
      <p>{told.sentence}</p>
      <div className="actions">
        {told.url && (
          <a className="button primary" href={told.url} target="_blank" rel="noopener noreferrer" onClick={onClose}>
            <Icon of={ExternalLink} />
            {say('launch.open')}
          </a>
        )}
        <Button onPress={onClose}>{say('action.close')}</Button>
      </div>
    </Dialog>
  )
}
