import { useEffect, useState } from 'preact/hooks';
import { download } from '../../api/client';
import { t } from '../../text';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';

export interface Style {
  color: string;
  background: string;
  shape: 'square' | 'rounded' | 'dots';
  level: 'L' | 'M' | 'Q' | 'H';
  margin: number;
  width: number;
}

type Format = 'png' | 'svg' | 'pdf';

/** The file of a code. */
export const fileOf = async (id: string, style: Style, format: Format): Promise<Blob> =>
  (await download(`/api/urls/${encodeURIComponent(id)}/qrcode`, { ...style, format })).blob;

/** The code of a link as a picture. */
export function Code({ id, address, style }: { id: string; address: string; style: Style }) {
  const file = useResource(`${id} ${JSON.stringify(style)}`, () => fileOf(id, style, 'svg'));
  const [source, setSource] = useState('');
  const { data } = file;
  useEffect(() => {
    if (!data) return;
    const url = URL.createObjectURL(data);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [data]);
  if (file.error !== undefined) return <Problem error={file.error} retry={file.reload} />;
  if (!source) return <div class="code" aria-busy="true" />;
  return <img class="code" src={source} alt={t('qr.preview', { address })} />;
}
