// How social networks show a link.
import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Area, Input, Select } from '../../ui/field';
import { FilePicker } from '../../ui/filepicker';
import { explain } from '../../ui/problem';
import { Part, type PartProps } from './form';

type Link = Schema<'URL'>;

interface SocialProps extends PartProps {
  link: Link;
  /** Called after the image has changed, which is saved at once. */
  onImage: (link: Link) => void;
}

/** The image of the preview. */
function Picture({ link, onImage }: Pick<SocialProps, 'link' | 'onImage'>) {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const change = async (act: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await act();
      onImage(await api.get('/api/urls/{id}', { path: { id: link.id } }));
      setProblem(undefined);
    } catch (error) {
      const field = error instanceof ApiError ? error.fields[0]?.message : undefined;
      setProblem(field ?? explain(error));
    }
    setBusy(false);
  };
  const upload = (file: File) => {
    const body = new FormData();
    body.append('file', file);
    return change(() => api.post('/api/og-images/upload/{urlId}', { path: { urlId: link.id }, body }));
  };
  return (
    <>
      <FilePicker
        label={t('social.image')}
        hint={t('social.imageHint')}
        problem={problem}
        name="image"
        accept="image/jpeg,image/png,image/webp,image/gif"
        busy={busy}
        onFile={(file) => file && void upload(file)}
      />
      {link.ogImage && (
        <Button
          icon="trash"
          busy={busy}
          onClick={() =>
            void change(() => api.put('/api/urls/{id}', { path: { id: link.id }, body: { ogImage: null } }))
          }
        >
          {t('social.remove')}
        </Button>
      )}
    </>
  );
}

/** The fields of the preview in social networks. */
export function Social({ fields, set, problem, link, onImage }: SocialProps) {
  const { ogTitle, ogDescription, twitterCardType } = fields;
  const shown = ogTitle !== '' || ogDescription !== '' || Boolean(link.ogImage);
  const wrong = ['ogTitle', 'ogDescription', 'twitterCardType'].some((name) => problem(name));
  return (
    <Part title={t('social.title')} open={shown || wrong}>
      <Input
        label={t('create.linkTitle')}
        name="ogTitle"
        hint={t('social.hint')}
        value={ogTitle}
        problem={problem('ogTitle')}
        onValue={(value) => set({ ogTitle: value })}
      />
      <Select
        label={t('social.layout')}
        name="twitterCardType"
        value={twitterCardType}
        options={[
          ['', t('social.auto')],
          ['summary_large_image', t('social.large')],
          ['summary', t('social.small')],
        ]}
        onValue={(value) => set({ twitterCardType: value })}
      />
      <Area
        label={t('labels.description')}
        name="ogDescription"
        rows={3}
        value={ogDescription}
        problem={problem('ogDescription')}
        onValue={(value) => set({ ogDescription: value })}
      />
      <div>
        <Picture link={link} onImage={onImage} />
      </div>
    </Part>
  );
}
