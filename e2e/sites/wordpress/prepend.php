<?php
// Runs before every script: the program files stay where Debian put them, and this folder has the configuration.
define( 'ABSPATH', getenv( 'BLOG_FOLDER' ) . '/root/' );
